// All heads of an attention, for the forward and the backward kernel.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include <tend/core/base/function_ref.h>
#include <tend/core/kernels/attention/attention_head.h>

namespace tend::kernels {

template <class T>
class AttentionHeads {
 public:
  AttentionHeads(const Array& query, const Array& key, const Array& value,
                 const AttentionRule& rule)
      : query_(query), key_(key), value_(value), rule_(rule) {
    for (std::int64_t d = 0; d + 2 < query.rank(); ++d) count_ *= query.shape()[d];
  }

  std::int64_t count() const { return count_; }
  /// The number of query heads in a batch: the size of dimension -3.
  std::int64_t per_batch() const { return query_.rank() > 2 ? query_.size(-3) : 1; }
  /// The number of tiles that the queries of a head touch. Tiles begin at positions that are
  /// multiples of kTile.
  std::int64_t blocks() const {
    return (rule_.position % kTile + query_.size(-2) + kTile - 1) / kTile;
  }
  /// The number of pairs of a query and a key in all heads, without pairs that causality hides.
  std::int64_t pairs() const {
    const std::int64_t queries = query_.size(-2), keys = key_.size(-2);
    // Unsigned, because expanded keys may have more pairs than int64 can count.
    const auto product = [](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) *
                                       static_cast<std::uint64_t>(b));
    };
    if (!rule_.is_causal) return product(count_, product(queries, keys));
    std::int64_t visible = 0;
    for (std::int64_t i = 0; i < queries; ++i) visible += std::min(keys, rule_.position + i + 1);
    return product(count_, visible);
  }
  /// The number of tasks per chunk, so that a chunk takes about 10 us or more. Each task multiplies
  /// `queries` queries with each key.
  std::int64_t grain(std::int64_t queries) const {
    constexpr double kMultiplications = 1 << 19;
    const double pairs = static_cast<double>(queries) * static_cast<double>(key_.size(-2));
    const auto each = static_cast<double>(query_.size(-1) + value_.size(-1));
    return 1 + static_cast<std::int64_t>(kMultiplications / (1 + pairs * each));
  }
  /// True if there are many heads, and each has at most `most` queries and keys; see ShortHeads.
  bool are_short(std::size_t most) const;
  /// The number of tasks per chunk, if a task has `lanes` short heads.
  std::int64_t short_grain(std::int64_t lanes) const {
    return 1 + (grain(query_.size(-2)) - 1) / lanes;
  }
  std::int64_t short_scratch_size() const {
    return short_scratch(query_.size(-1), value_.size(-1));
  }
  /// `lanes` heads, beginning with head `first`, or fewer at the end. Members that only the forward
  /// or only the backward uses are not set.
  ShortHeads<T> short_heads(std::int64_t first, std::size_t lanes) const;
  /// Head `index` of the query. Members that only the forward or only the backward uses are not
  /// set.
  AttentionHead<T> at(std::int64_t index) const;

 private:
  static constexpr std::int64_t kTile = kAttentionTile;
  const Array& query_;
  const Array& key_;
  const Array& value_;
  const AttentionRule& rule_;
  std::int64_t count_ = 1;
};

/// The tasks of the forward. Each computes some blocks of queries of a head.
struct ForwardTasks {
  std::int64_t blocks_per_task, tasks_per_head, first_position;

  /// A task has up to 1024 queries, and fewer if there are few heads. Blocks begin at positions
  /// that are multiples of kAttentionTile.
  ForwardTasks(std::int64_t heads, std::int64_t blocks, std::int64_t position)
      : blocks_per_task(
            std::clamp<std::int64_t>(heads * blocks / 16, 1, std::min<std::int64_t>(blocks, 16))),
        tasks_per_head((blocks + blocks_per_task - 1) / blocks_per_task),
        first_position(position % static_cast<std::int64_t>(kAttentionTile)) {}

  std::int64_t queries() const {
    return blocks_per_task * static_cast<std::int64_t>(kAttentionTile);
  }
  /// With causality, the last queries see the most keys. The first tasks compute the last queries,
  /// so that small tasks are left for the end.
  std::int64_t first_query(std::int64_t task) const { return query_of(last_first(task)); }
  std::int64_t end_query(std::int64_t task) const { return query_of(last_first(task) + 1); }

 private:
  std::int64_t last_first(std::int64_t task) const {
    return tasks_per_head - 1 - task % tasks_per_head;
  }
  std::int64_t query_of(std::int64_t part) const {
    return std::max<std::int64_t>(0, part * queries() - first_position);
  }
};

template <class T>
struct ForwardKernels {
  /// Computes the queries [first, end) of a head.
  void (*attend)(AttentionHead<T> head, std::size_t first, std::size_t end, T* scratch);
  /// Computes one head for each lane of a vector.
  void (*attend_short)(const ShortHeads<T>& heads, T* scratch);
  std::size_t lanes;
  /// True if no element is NaN or infinite.
  bool (*is_finite)(const HeadMatrix<const T>& matrix, std::size_t rows, std::size_t cols);
};

/// Differentiates the blocks with numbers `first`, `first + step`, ... of `heads`, which share keys
/// and values. Calls begin_head(i) before it differentiates heads[i].
template <class T>
struct BackwardKernels {
  void (*differentiate)(std::span<AttentionHead<T>> heads, std::size_t first, std::size_t step,
                        FunctionRef<void(std::size_t)> begin_head, T* scratch);
  /// Differentiates one head for each lane of a vector.
  void (*differentiate_short)(const ShortHeads<T>& heads, T* scratch);
  std::size_t lanes;
};

/// Calls f with the two bools as compile-time constants.
template <class F>
void choose(bool a, bool b, F f) {
  if (a && b) return f(std::true_type(), std::true_type());
  if (a) return f(std::true_type(), std::false_type());
  if (b) return f(std::false_type(), std::true_type());
  f(std::false_type(), std::false_type());
}

}  // namespace tend::kernels
