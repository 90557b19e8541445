#include <tend/core/kernels/attention/attention_backward.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tend/core/kernels/attention/attention.h>
#include <tend/core/kernels/attention/attention_heads.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/simd/simd_targets.h>
#include <tend/core/threads/parallel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention/attention_backward.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/attention/attention_tile.h>
#include <tend/core/kernels/attention/short_heads.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The data of a block of queries. `query` and `grad` have a row for each query. All other matrices
// have a lane for each query.
template <class T>
struct Block {
  T *query_lanes, *grad_lanes, *grad_query_lanes;
  T *query, *grad;
  T *weights, *grad_scores;  // of a tile: the weights, and the gradients of the scores
  T* scores;                 // the scores of a tile, before functions change them
  T largest[kTile], log_sums[kTile];
  T dots[kTile];  // the dot product of each query's context and the gradient of the context
};

// The gradient of a score, given the gradient of its weight.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE V grad_of_score(D d, V weight, V grad, V dot) {
  const V product = hn::Mul(weight, hn::Sub(grad, dot));
  // Subnormal numbers become 0, because later products with them would be slow.
  const V least = hn::Set(d, std::numeric_limits<T>::min());
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(product), least), product);
}

// On entry, block.weights contains the scores, and block.grad_scores the gradients of the weights
// after dropout, with keep_factor included. On return, block.weights contains the weights after
// dropout, without keep_factor, and block.grad_scores the gradients of the scores.
template <bool kMasked, bool kDropped, class T>
HWY_INLINE void differentiate(bool diagonal, const TileRange& tile, std::size_t lanes,
                              const TileBits& visible, const TileBits& kept,
                              const Block<T>& block) {
  const hn::CappedTag<T, kStep> d;
  const auto hidden = hn::Set(d, -kInfinity<T>);
  for (std::size_t lane = 0; lane < lanes; lane += hn::Lanes(d)) {
    const auto largest = hn::LoadU(d, block.largest + lane);
    const auto log_sum = hn::LoadU(d, block.log_sums + lane);
    const auto dot = hn::LoadU(d, block.dots + lane);
    const std::size_t keys = diagonal ? keys_of_step(tile, lane) : tile.keys;
    for (std::size_t j = 0; j < keys; ++j) {
      T* const weights = block.weights + j * kTile + lane;
      T* const grads = block.grad_scores + j * kTile + lane;
      auto score = hn::Load(d, weights);
      if constexpr (kMasked) {
        score = hn::IfThenElse(mask_from_bits(d, visible.words[j] >> lane), score, hidden);
      }
      const auto weight = exp_not_positive(d, hn::Sub(hn::Sub(score, largest), log_sum));
      auto grad = hn::Load(d, grads);
      auto weight_left = weight;
      if constexpr (kDropped) {
        const auto left = mask_from_bits(d, kept.words[j] >> lane);
        grad = hn::IfThenElseZero(left, grad);
        weight_left = hn::IfThenElseZero(left, weight);
      }
      grad = grad_of_score(d, weight, grad, dot);
      if constexpr (kMasked) {
        grad = hn::IfThenElseZero(mask_from_bits(d, visible.words[j] >> lane), grad);
      }
      hn::Store(weight_left, d, weights);
      hn::Store(grad, d, grads);
    }
  }
}

// Adds alpha * weights @ block to the rows of `rows` that belong to the tile's keys.
template <class T>
HWY_INLINE void add_rows(bool diagonal, const TileRange& tile, const T* weights, const T* block,
                         std::size_t cols, T alpha, const HeadMatrix<T>& rows) {
  for_steps(diagonal, tile.keys,
            [&](std::size_t key, std::size_t count, std::size_t lane) HWY_ATTR {
              product<T>({count, cols, tile.queries - lane, weights + key * kTile + lane, kTile, 1,
                          block + lane * cols, cols, panel_width<T>(), rows.at(tile.key + key),
                          rows.row, alpha, T(1)});
            });
}

template <class T>
HWY_INLINE void differentiate_tile(const AttentionHead<T>& head, const TileRange& tile,
                                   std::size_t lanes, Block<T>& block) {
  TileBits visible, kept;
  compute_scores(head, tile, block.query_lanes, lanes, block.weights, visible);
  if (head.functions) {
    std::copy_n(block.weights, tile.keys * kTile, block.scores);
    head.functions->apply(tile, block.weights, visible);
  }
  find_kept(head, tile, kept);
  const bool diagonal = on_diagonal(head, tile);
  rows_by_lanes(diagonal, tile.keys, rows_from(head.value, tile.key), head.value_dim,
                block.grad_lanes, lanes, head.keep_factor, block.grad_scores);
  choose(!visible.all, !kept.all, [&](auto masked, auto dropped) HWY_ATTR {
    differentiate<masked(), dropped()>(diagonal, tile, lanes, visible, kept, block);
  });
  if (head.functions && head.functions->changes_scores()) {
    head.functions->apply_gradient(tile, block.scores, visible, block.grad_scores,
                                   *head.grad_tables);
  }
  if (head.grad_value.data) {
    add_rows(diagonal, tile, block.weights, block.grad, head.value_dim, head.keep_factor,
             head.grad_value);
  }
  if (head.grad_key.data) {
    add_rows(diagonal, tile, block.grad_scores, block.query, head.dim, head.scale, head.grad_key);
  }
  if (head.grad_query.data) {
    weigh_rows(diagonal, tile.keys, rows_from(head.key, tile.key), head.dim, block.grad_scores,
               lanes, head.scale, block.grad_query_lanes);
  }
}

template <class T>
HWY_INLINE T dot_product(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count) {
  const hn::ScalableTag<T> d;
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    sums = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sums);
  }
  T dot = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) dot += a[i] * b[i];
  return dot;
}

// Loads queries [first, first + count).
template <class T>
HWY_INLINE void load_block(const AttentionHead<T>& head, std::size_t first, std::size_t count,
                           std::size_t lanes, T* HWY_RESTRICT scratch, Block<T>& block) {
  const auto take = [&](std::size_t size) HWY_ATTR {
    T* const begin = scratch;
    scratch += size;
    return begin;
  };
  block.query_lanes = take(head.dim * kTile);
  block.grad_lanes = take(head.value_dim * kTile);
  block.grad_query_lanes = take(head.dim * kTile);
  block.weights = take(kTile * kTile);
  block.grad_scores = take(kTile * kTile);
  block.scores = take(head.functions ? kTile * kTile : 0);
  block.query = take(head.dim * kTile);
  block.grad = take(head.value_dim * kTile);

  const auto query = rows_from(head.query, first), grad = rows_from(head.grad, first);
  pack(query, count, head.dim, block.query);
  pack(grad, count, head.value_dim, block.grad);
  load_lanes(query, count, head.dim, lanes, block.query_lanes);
  load_lanes(grad, count, head.value_dim, lanes, block.grad_lanes);
  std::fill_n(block.grad_query_lanes, head.dim * kTile, T(0));
  // With an infinite largest score, the weights of lanes without a query are 0.
  std::fill_n(block.largest, kTile, kInfinity<T>);
  std::fill_n(block.log_sums, kTile, T(0));
  std::copy_n(head.log_sums + first, count, block.largest);
  std::copy_n(head.log_sums + head.queries + first, count, block.log_sums);
  std::fill_n(block.dots, kTile, T(0));
  for (std::size_t i = 0; i < count; ++i) {
    block.dots[i] =
        dot_product(head.out.at(first + i), block.grad + i * head.value_dim, head.value_dim);
  }
}

template <class T>
HWY_INLINE void differentiate_block(const AttentionHead<T>& head, std::size_t first,
                                    std::size_t count, T* scratch) {
  const std::size_t lanes = (count + kStep - 1) / kStep * kStep;
  Block<T> block;
  load_block(head, first, count, lanes, scratch, block);
  const std::size_t end = head.skip_hidden ? std::min(head.keys, first + count) : head.keys;
  for_tiles(head, first, count, end,
            [&](const TileRange& tile) HWY_ATTR { differentiate_tile(head, tile, lanes, block); });
  if (head.grad_query.data) {
    store_lanes(block.grad_query_lanes, count, head.dim, head.grad_query, first);
  }
}

// The backward of the blocks first, first + step, ... of heads that share keys and values. The
// gradients of keys and values are summed in contiguous rows after the scratch memory of a block,
// and copied to the results at the end.
template <class T>
void differentiate_heads(std::span<AttentionHead<T>> heads, std::size_t first, std::size_t step,
                         FunctionRef<void(std::size_t)> begin_head, T* scratch) {
  const AttentionHead<T> any = heads[0];
  T* end = scratch + backward_scratch(any.dim, any.value_dim, any.functions != nullptr);
  const auto take = [&](std::size_t columns)
                        HWY_ATTR { return std::exchange(end, end + any.keys * columns); };
  HeadMatrix<const T> key = any.key, value = any.value;
  if (any.queries > kTile) {
    key = pack(key, any.keys, any.dim, take(any.dim));
    value = pack(value, any.keys, any.value_dim, take(any.value_dim));
  }
  const auto begin_sum = [&](const HeadMatrix<T>& place, std::size_t columns) HWY_ATTR {
    if (!place.data) return place;
    const HeadMatrix<T> sum = {take(columns), columns, 1};
    std::fill_n(sum.data, any.keys * columns, T(0));
    return sum;
  };
  const HeadMatrix<T> key_sum = begin_sum(any.grad_key, any.dim);
  const HeadMatrix<T> value_sum = begin_sum(any.grad_value, any.value_dim);
  const bool has_finite_keys =
      any.keys > kStep && (any.is_causal || any.functions) && all_finite(key, 0, any.keys, any.dim);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    AttentionHead<T>& head = heads[i];
    head.key = key;
    head.value = value;
    head.grad_key = key_sum;
    head.grad_value = value_sum;
    const bool may_skip = has_finite_keys && all_finite(head.query, 0, head.queries, head.dim) &&
                          all_finite(head.grad, 0, head.queries, head.value_dim);
    head.skip_hidden = head.is_causal && may_skip;
    begin_head(i);
    if (head.functions) head.functions->allow_skipping(may_skip);
    for (std::size_t query = first * kTile; query < head.queries; query += step * kTile) {
      differentiate_block(head, query, std::min(kTile, head.queries - query), scratch);
    }
  }
  const auto end_sum = [&](const HeadMatrix<T>& sum, std::size_t columns,
                           const HeadMatrix<T>& place) HWY_ATTR {
    if (!place.data) return;
    for (std::size_t j = 0; j < any.keys; ++j) copy_row(sum.at(j), columns, place.at(j));
  };
  end_sum(key_sum, any.dim, any.grad_key);
  end_sum(value_sum, any.value_dim, any.grad_value);
}

// Turns the scores of a query into weights, and the gradients of the weights into gradients of the
// scores. The keys at `visible` and after it are hidden.
template <class T>
HWY_INLINE void differentiate_query(std::size_t keys, std::size_t visible, const T* largest,
                                    const T* log_sum, const T* dot, T* HWY_RESTRICT scores,
                                    T* HWY_RESTRICT grads) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t at = 0; at < keys * lanes; at += lanes) {
    if (at >= visible * lanes) hn::Store(hn::Set(d, -kInfinity<T>), d, scores + at);
    const auto score = hn::Sub(hn::Load(d, scores + at), hn::Load(d, largest));
    const auto weight = exp_not_positive(d, hn::Sub(score, hn::Load(d, log_sum)));
    const auto grad = grad_of_score(d, weight, hn::Load(d, grads + at), hn::Load(d, dot));
    hn::Store(weight, d, scores + at);
    hn::Store(at < visible * lanes ? grad : hn::Zero(d), d, grads + at);
  }
}

// Computes the gradients of head h from lane h of `weights` and `grads`. `grads` has the gradients
// of the scores. Both arrays are (queries, keys, lanes).
template <class T>
HWY_INLINE void store_gradients(const ShortHeads<T>& heads, std::size_t h, const T* weights,
                                const T* grads) {
  const AttentionHead<T>& any = heads.any;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>()), row = any.keys * lanes;
  for (std::size_t j = 0; j < any.keys; ++j) {
    const std::size_t at = j * lanes + h;
    if (any.grad_value.data) {
      weigh_few_rows(any.queries, weights + at, row, heads.grad[h], any.grad.row, any.value_dim,
                     any.keep_factor, T(1), heads.grad_value[h] + j * any.grad_value.row);
    }
    if (any.grad_key.data) {
      weigh_few_rows(any.queries, grads + at, row, heads.query[h], any.query.row, any.dim,
                     any.scale, T(1), heads.grad_key[h] + j * any.grad_key.row);
    }
  }
  if (!any.grad_query.data) return;
  for (std::size_t i = 0; i < any.queries; ++i) {
    weigh_few_rows(any.keys, grads + i * row + h, lanes, heads.key[h], any.key.row, any.dim,
                   any.scale, T(1), heads.grad_query[h] + i * any.grad_query.row);
  }
}

template <class T>
void differentiate_short(const ShortHeads<T>& heads, T* scratch) {
  const AttentionHead<T>& any = heads.any;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  const auto take = [&](std::size_t size)
                        HWY_ATTR { return std::exchange(scratch, scratch + size * lanes); };
  T* const query = take(any.queries * any.dim);
  T* const key = take(any.keys * any.dim);
  T* const grad = take(any.queries * any.value_dim);
  T* const value = take(any.keys * any.value_dim);
  T* const weights = take(any.queries * any.keys);
  T* const grads = take(any.queries * any.keys);
  load_heads_in_lanes(heads.query.data(), any.query.row, any.queries, any.dim, query);
  load_heads_in_lanes(heads.key.data(), any.key.row, any.keys, any.dim, key);
  load_heads_in_lanes(heads.grad.data(), any.grad.row, any.queries, any.value_dim, grad);
  load_heads_in_lanes(heads.value.data(), any.value.row, any.keys, any.value_dim, value);
  for (std::size_t i = 0; i < any.queries; ++i) {
    alignas(64) T largest[kStep], log_sums[kStep], dots[kStep];
    for (std::size_t h = 0; h < lanes; ++h) {
      largest[h] = heads.log_sums[h][i];
      log_sums[h] = heads.log_sums[h][any.queries + i];
      dots[h] = dot_product<T>(heads.out[h] + i * any.out.row, heads.grad[h] + i * any.grad.row,
                               any.value_dim);
    }
    T* const scores = weights + i * any.keys * lanes;
    T* const grad_scores = grads + i * any.keys * lanes;
    multiply_rows(query + i * any.dim * lanes, key, any.keys, any.dim, any.scale, scores);
    multiply_rows(grad + i * any.value_dim * lanes, value, any.keys, any.value_dim, any.keep_factor,
                  grad_scores);
    differentiate_query(any.keys, keys_of_query(any, i), largest, log_sums, dots, scores,
                        grad_scores);
  }
  for (std::size_t h = 0; h < heads.count; ++h) store_gradients(heads, h, weights, grads);
}

const ForTypes<BackwardKernels>& find_backward_kernels() {
  static constexpr ForTypes<BackwardKernels> kAll = {
      {differentiate_heads, differentiate_short, hn::MaxLanes(hn::ScalableTag<float>())},
      {differentiate_heads, differentiate_short, hn::MaxLanes(hn::ScalableTag<double>())}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_backward_kernels);

// Each block of queries adds to the gradients of all keys and values that it sees, so the blocks of
// a head run one after the other. If there are too few heads for the cores, the blocks of a head
// are divided into several parts, whose gradients are summed at the end.
class Parts {
 public:
  Parts(std::int64_t heads, std::int64_t blocks, const AttentionGradients& gradients) {
    constexpr std::int64_t kTasks = 4;
    const std::int64_t count = std::clamp<std::int64_t>(kTasks / std::max<std::int64_t>(1, heads),
                                                        1, std::max<std::int64_t>(1, blocks));
    const auto room = [](const Array& like) {
      return like.defined() ? Array::empty(like.shape(), like.dtype()) : Array();
    };
    parts_.push_back(gradients);
    while (std::ssize(parts_) < count) {
      parts_.push_back({gradients.query, room(gradients.key), room(gradients.value)});
    }
  }

  std::int64_t count() const { return std::ssize(parts_); }
  const AttentionGradients& operator[](std::int64_t i) const {
    return parts_[static_cast<std::size_t>(i)];
  }
  void sum() const {
    const Array &key = parts_[0].key, &value = parts_[0].value;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (key.defined()) add(key, key, parts_[i].key);
      if (value.defined()) add(value, value, parts_[i].value);
    }
  }

 private:
  std::vector<AttentionGradients> parts_;
};

// The gradients of tables, summed in a fixed order. The tasks are divided among slots, and each
// slot has its own sums. Tasks of one slot run one after the other and add to these sums. At the
// end, the sums of all slots are added. No more cores can work than there are slots.
class TableSums {
 public:
  explicit TableSums(const std::vector<Array>& gradients) : gradients_(gradients) {
    constexpr std::int64_t kSmall = 1 << 16, kMost = 16, kFew = 4;
    std::int64_t elements = 0;
    for (const Array& each : gradients) elements += each.defined() ? each.numel() : 0;
    if (elements == 0) return;
    const std::int64_t slots = elements <= kSmall ? kMost : kFew;
    for (std::int64_t i = 0; i < slots; ++i) {
      std::vector<Array>& slot = slots_.emplace_back();
      for (const Array& each : gradients) {
        slot.push_back(each.defined() ? Array::zeros(each.shape(), float64) : Array());
      }
    }
  }

  /// The number of slots, or 0 if there is nothing to sum.
  std::int64_t slots() const { return std::ssize(slots_); }
  std::vector<double*> sums(std::int64_t slot) const {
    std::vector<double*> all(gradients_.size(), nullptr);
    if (slots_.empty()) return all;
    const std::vector<Array>& arrays = slots_[static_cast<std::size_t>(slot)];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (arrays[i].defined()) all[i] = arrays[i].data<double>();
    }
    return all;
  }
  void sum() const {
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      if (!gradients_[i].defined()) continue;
      gradients_[i].fill(0);
      for (const std::vector<Array>& slot : slots_) add(gradients_[i], gradients_[i], slot[i]);
    }
  }

 private:
  const std::vector<Array>& gradients_;
  std::vector<std::vector<Array>> slots_;
};

template <class T>
void differentiate_short_heads(const BackwardKernels<T>& kernels, const AttentionHeads<T>& heads,
                               const AttentionGradients& gradients, const Array& grad,
                               const Array& out, const Array& log_sums) {
  const auto lanes = static_cast<std::int64_t>(kernels.lanes);
  const std::int64_t queries = out.size(-2), tasks = (heads.count() - 1) / lanes + 1;
  parallel_for(0, tasks, heads.short_grain(2 * lanes), [&](std::int64_t begin, std::int64_t end) {
    const Array scratch = Array::empty({heads.short_scratch_size()}, dtype_of<T>());
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task * lanes;
      ShortHeads<T> group = heads.short_heads(first, kernels.lanes);
      const auto find = [&](const Array& a, auto& matrix, auto& addresses) {
        matrix = head_of<std::remove_pointer_t<decltype(matrix.data)>>(a, 0);
        find_heads(a, first, group.count, addresses);
      };
      find(out, group.any.out, group.out);
      find(grad, group.any.grad, group.grad);
      find(gradients.query, group.any.grad_query, group.grad_query);
      find(gradients.key, group.any.grad_key, group.grad_key);
      find(gradients.value, group.any.grad_value, group.grad_value);
      for (std::size_t h = 0; h < kernels.lanes; ++h) {
        const std::int64_t head = first + static_cast<std::int64_t>(h < group.count ? h : 0);
        group.log_sums[h] = log_sums.data<T>() + 2 * head * queries;
      }
      kernels.differentiate_short(group, scratch.data<T>());
    }
  });
}

}  // namespace

void attention_backward(const AttentionGradients& gradients, const Array& grad, const Array& out,
                        const Array& log_sums, const Array& query, const Array& key,
                        const Array& value, const AttentionRule& rule,
                        const ScoreDerivative* derivative) {
  const TableSums tables(gradients.tables);
  // The product of the sizes of empty arrays may overflow int64.
  if (query.numel() == 0 && key.numel() == 0 && value.numel() == 0) return tables.sum();
  visit_floating("attention", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const BackwardKernels<T>& kernels = HWY_DYNAMIC_DISPATCH(find_backward_kernels)().of<T>();
    const AttentionHeads<T> heads(query, key, value, rule);
    // The multiplications for each pair of a query and a key. Three products multiply by the size
    // of a query: the scores, and the gradients of queries and keys. Two products multiply by the
    // size of a value: the gradients of weights and values.
    count_products(heads.pairs(), 3 * query.size(-1) + 2 * value.size(-1));
    if (heads.are_short(kMostShortBackward) && grad.strides()[grad.rank() - 1] == 1) {
      return differentiate_short_heads(kernels, heads, gradients, grad, out, log_sums);
    }
    const FunctionPlans<T> plans(rule.functions, derivative, gradients.tables);
    const std::int64_t groups = heads.count() / rule.heads_per_key_head;
    const Parts parts(groups, heads.blocks(), gradients);
    const std::int64_t scratch_size =
        backward_scratch(query.size(-1), value.size(-1), !plans.empty()) +
        2 * key.size(-2) * (query.size(-1) + value.size(-1));
    const auto differentiate = [&](std::int64_t task, const std::vector<double*>& sums,
                                   T* scratch) {
      const std::int64_t group = task / parts.count(), part = task % parts.count();
      std::optional<HeadFunctions<T>> functions;
      if (!plans.empty()) functions.emplace(plans);
      std::vector<AttentionHead<T>> members;
      for (std::int64_t i = group * rule.heads_per_key_head;
           i < (group + 1) * rule.heads_per_key_head; ++i) {
        AttentionHead<T>& head = members.emplace_back(heads.at(i));
        head.functions = functions ? &*functions : nullptr;
        head.out = head_of<T>(out, i);
        head.log_sums = log_sums.data<T>() + 2 * i * query.size(-2);
        head.grad = head_of<const T>(grad, i);
        head.grad_query = head_of<T>(gradients.query, i);
        head.grad_key = head_of<T>(parts[part].key, group);
        head.grad_value = head_of<T>(parts[part].value, group);
        head.grad_tables = &sums;
      }
      const auto begin_head = [&](std::size_t i) {
        if (!functions) return;
        functions->begin_head(group * rule.heads_per_key_head + static_cast<std::int64_t>(i),
                              heads.per_batch());
      };
      kernels.differentiate(members, static_cast<std::size_t>(part),
                            static_cast<std::size_t>(parts.count()), begin_head, scratch);
    };
    const std::int64_t tasks = groups * parts.count();
    // Without tables, each task has its own slot.
    const std::int64_t slots = tables.slots() > 0 ? std::min(tables.slots(), tasks) : tasks;
    const std::int64_t grain =
        tables.slots() > 0 ? 1 : heads.grain(2 * rule.heads_per_key_head * query.size(-2));
    parallel_for(0, slots, grain, [&](auto begin, auto end) {
      const Array scratch = Array::empty({scratch_size}, dtype_of<T>());
      for (std::int64_t slot = begin; slot < end; ++slot) {
        const std::vector<double*> sums = tables.sums(slot);
        for (std::int64_t task = slot; task < tasks; task += slots) {
          differentiate(task, sums, scratch.data<T>());
        }
      }
    });
    parts.sum();
  });
  tables.sum();
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
