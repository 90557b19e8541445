#include <tend/core/kernels/attention/attention.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tend/core/kernels/attention/attention_heads.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/simd/simd_targets.h>
#include <tend/core/threads/parallel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention/attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/attention/attention_tile.h>
#include <tend/core/kernels/attention/few_queries.h>
#include <tend/core/kernels/attention/short_heads.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The intermediate results of a block of queries, after the keys that were read so far. For each
// query (a lane): the largest score, the sum of e^(score - largest), and the sums of the values
// weighted by these exponentials.
template <class T>
struct Progress {
  T* largest;
  T* sum;
  T* context;  // (V, kTile)
};

// Rescales the context to the new largest scores: factor = e^(old largest score - new one).
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE void rescale(D d, V factor, std::size_t lane, std::size_t value_dim, T* context) {
  if (hn::AllTrue(d, hn::Eq(factor, hn::Set(d, T(1))))) return;
  for (std::size_t i = 0; i < value_dim; ++i) {
    T* at = context + i * kTile + lane;
    hn::Store(hn::Mul(factor, hn::Load(d, at)), d, at);
  }
}

// Turns scores into weights relative to the largest score so far, and updates `progress`.
template <bool kMasked, bool kDropped, class T>
HWY_INLINE void weigh(bool diagonal, const TileRange& tile, std::size_t lanes,
                      std::size_t value_dim, const TileBits& visible, const TileBits& kept,
                      T* scores, const Progress<T>& progress) {
  const hn::CappedTag<T, kStep> d;
  using V = hn::Vec<decltype(d)>;
  const V hidden = hn::Set(d, -kInfinity<T>);
  for (std::size_t lane = 0; lane < lanes; lane += hn::Lanes(d)) {
    const std::size_t keys = diagonal ? keys_of_step(tile, lane) : tile.keys;
    const V before = hn::Load(d, progress.largest + lane);
    V largest = before;
    for (std::size_t j = 0; j < keys; ++j) {
      T* at = scores + j * kTile + lane;
      V score = hn::Load(d, at);
      if constexpr (kMasked) {
        score = hn::IfThenElse(mask_from_bits(d, visible.words[j] >> lane), score, hidden);
        hn::Store(score, d, at);
      }
      largest = hn::Max(largest, score);
    }
    // If all scores are -inf, 0 is subtracted instead: -inf - -inf would be NaN.
    const V level = hn::IfThenZeroElse(hn::Eq(largest, hidden), largest);
    const V factor = exp_not_positive(d, hn::Sub(before, level));
    V sum = hn::Mul(factor, hn::Load(d, progress.sum + lane));
    for (std::size_t j = 0; j < keys; ++j) {
      T* at = scores + j * kTile + lane;
      V weight = exp_not_positive(d, hn::Sub(hn::Load(d, at), level));
      sum = hn::Add(sum, weight);
      if constexpr (kDropped) {
        weight = hn::IfThenElseZero(mask_from_bits(d, kept.words[j] >> lane), weight);
      }
      hn::Store(weight, d, at);
    }
    hn::Store(largest, d, progress.largest + lane);
    hn::Store(sum, d, progress.sum + lane);
    rescale(d, factor, lane, value_dim, progress.context);
  }
}

HWY_INLINE void store_logs(std::size_t lanes, const float* sum, float* logs) {
  const hn::CappedTag<float, kStep> d;
  for (std::size_t i = 0; i < lanes; i += hn::Lanes(d)) {
    hn::Store(log(d, hn::Load(d, sum + i)), d, logs + i);
  }
}
HWY_INLINE void store_logs(std::size_t lanes, const double* sum, double* logs) {
  for (std::size_t i = 0; i < lanes; ++i) logs[i] = std::log(sum[i]);
}

// Stores the logarithms of the sums, and computes the factors that the weighted values are
// multiplied by.
template <class T>
HWY_INLINE void finish_sums(const AttentionHead<T>& head, std::size_t first, std::size_t count,
                            std::size_t lanes, T* largest, const T* sum, T* factor) {
  alignas(64) T logs[kTile];
  store_logs(lanes, sum, logs);
  for (std::size_t i = 0; i < lanes; ++i) factor[i] = head.keep_factor / sum[i];
  for (std::size_t i = 0; i < count; ++i) {
    if (sum[i] != T(0)) continue;
    // All scores are -inf: the keys are hidden, or the scores were computed as -inf.
    factor[i] = logs[i] = T(0);
    largest[i] = kInfinity<T>;  // so that the weights are 0 in the backward
  }
  std::copy_n(largest, count, head.log_sums + first);
  std::copy_n(logs, count, head.log_sums + head.queries + first);
}

// Divides the weighted values of a block by the sums, and stores the results.
template <class T>
HWY_INLINE void finish(const AttentionHead<T>& head, std::size_t first, std::size_t count,
                       std::size_t lanes, const Progress<T>& progress) {
  alignas(64) T factor[kTile];
  finish_sums(head, first, count, lanes, progress.largest, progress.sum, factor);
  const hn::CappedTag<T, kStep> d;
  for (std::size_t v = 0; v < head.value_dim; ++v) {
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(d)) {
      T* at = progress.context + v * kTile + i;
      hn::Store(hn::Mul(hn::Load(d, factor + i), hn::Load(d, at)), d, at);
    }
  }
  store_lanes(progress.context, count, head.value_dim, head.out, first);
}

// Computes all queries of a head that has few of them.
template <class T>
HWY_INLINE void attend_rows(const AttentionHead<T>& head, T* HWY_RESTRICT scratch) {
  alignas(64) T largest[kTile], sum[kTile], factor[kTile];
  T* const context = scratch + (head.dim + kTile) * kTile;
  std::fill_n(largest, kTile, -kInfinity<T>);
  std::fill_n(sum, kTile, T(0));
  std::fill_n(context, head.queries * head.value_dim, T(0));
  attend_few(head, scratch, largest, sum, context);
  finish_sums(head, 0, head.queries, kStep, largest, sum, factor);
  for (std::size_t i = 0; i < head.queries; ++i) {
    T* const out = head.out.at(i);
    for (std::size_t v = 0; v < head.value_dim; ++v) {
      out[v] = factor[i] * context[i * head.value_dim + v];
    }
  }
}

// Turns a query's scores of all keys into weights, before division by their sum.
template <class T>
HWY_INLINE void weigh_short(std::size_t keys, std::size_t visible, T* HWY_RESTRICT scores,
                            T* HWY_RESTRICT largest_score, T* HWY_RESTRICT sum) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto hidden = hn::Set(d, -kInfinity<T>);
  auto largest = hidden;
  for (std::size_t j = 0; j < keys; ++j) {
    if (j >= visible) hn::Store(hidden, d, scores + j * lanes);
    largest = hn::Max(largest, hn::Load(d, scores + j * lanes));
  }
  const auto level = hn::IfThenZeroElse(hn::Eq(largest, hidden), largest);
  auto total = hn::Zero(d);
  for (std::size_t j = 0; j < keys; ++j) {
    const auto weight = exp_not_positive(d, hn::Sub(hn::Load(d, scores + j * lanes), level));
    total = hn::Add(total, weight);
    hn::Store(weight, d, scores + j * lanes);
  }
  hn::Store(largest, d, largest_score);
  hn::Store(total, d, sum);
}

template <class T>
void attend_short(const ShortHeads<T>& heads, T* scratch) {
  const AttentionHead<T>& any = heads.any;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  T* const query = scratch;
  T* const key = query + any.queries * any.dim * lanes;
  T* const weights = key + any.keys * any.dim * lanes;
  load_heads_in_lanes(heads.query.data(), any.query.row, any.queries, any.dim, query);
  load_heads_in_lanes(heads.key.data(), any.key.row, any.keys, any.dim, key);
  alignas(64) T largest[kMostShort * kStep], sum[kMostShort * kStep], logs[kMostShort * kStep];
  const std::size_t step = any.keys * lanes;  // from one query's weights to the next query's
  for (std::size_t i = 0; i < any.queries; ++i) {
    multiply_rows(query + i * any.dim * lanes, key, any.keys, any.dim, any.scale,
                  weights + i * step);
    weigh_short(any.keys, keys_of_query(any, i), weights + i * step, largest + i * lanes,
                sum + i * lanes);
  }
  store_logs(any.queries * lanes, sum, logs);
  for (std::size_t h = 0; h < heads.count; ++h) {
    for (std::size_t i = 0; i < any.queries; ++i) {
      const std::size_t at = i * lanes + h;
      const bool sees_none = sum[at] == T(0);  // all scores are -inf
      heads.log_sums[h][i] = sees_none ? kInfinity<T> : largest[at];
      heads.log_sums[h][any.queries + i] = sees_none ? T(0) : logs[at];
      const T factor = sees_none ? T(0) : any.keep_factor / sum[at];
      weigh_few_rows(any.keys, weights + i * step + h, lanes, heads.value[h], any.value.row,
                     any.value_dim, T(1), factor, heads.out[h] + i * any.out.row);
    }
  }
}

// Adds the weighted values of a tile to the contexts. In a tile on the diagonal, kStep lanes at a
// time use only the keys up to their last query. One call adds the values of all these keys, so
// the bits of a sum do not depend on the number of lanes and keys.
template <class T>
HWY_INLINE void add_values(bool diagonal, std::size_t keys, const HeadMatrix<const T>& values,
                           std::size_t dim, const T* weights, std::size_t lanes, T* context) {
  if (!diagonal) return weigh_rows(false, keys, values, dim, weights, lanes, T(1), context);
  for (std::size_t lane = 0; lane < lanes; lane += kStep) {
    weigh_rows(false, std::min(keys, lane + kStep), values, dim, weights + lane, kStep, T(1),
               context + lane);
  }
}

// Computes queries [first, first + count).
template <class T>
HWY_INLINE void attend_block(const AttentionHead<T>& head, std::size_t first, std::size_t count,
                             T* HWY_RESTRICT scratch) {
  const std::size_t lanes = (count + kStep - 1) / kStep * kStep;
  T* const query = scratch;
  T* const scores = query + head.dim * kTile;
  T* const context = scores + kTile * kTile;
  alignas(64) T largest[kTile], sum[kTile];
  const Progress<T> progress = {largest, sum, context};
  load_lanes(rows_from(head.query, first), count, head.dim, lanes, query);
  std::fill_n(largest, kTile, -kInfinity<T>);
  std::fill_n(sum, kTile, T(0));
  std::fill_n(context, head.value_dim * kTile, T(0));

  TileBits visible, kept;
  const std::size_t end =
      head.skip_hidden ? std::min(head.keys, head.position + first + count) : head.keys;
  for_tiles(head, first, count, end, [&](const TileRange& tile) HWY_ATTR {
    compute_scores(head, tile, query, lanes, scores, visible);
    if (head.functions) head.functions->apply(tile, scores, visible);
    find_kept(head, tile, kept);
    const auto run = [&](auto masked, auto dropped) HWY_ATTR {
      weigh<masked(), dropped()>(on_diagonal(head, tile), tile, lanes, head.value_dim, visible,
                                 kept, scores, progress);
    };
    choose(!visible.all, !kept.all, run);
    add_values(on_diagonal(head, tile), tile.keys, rows_from(head.value, tile.key), head.value_dim,
               scores, lanes, context);
  });
  finish(head, first, count, lanes, progress);
}

// The range of keys that queries [first, last) need.
template <class T>
HWY_INLINE std::pair<std::size_t, std::size_t> needed_keys(const AttentionHead<T>& head,
                                                           std::size_t first, std::size_t last) {
  if (!head.functions) {
    return {0, head.skip_hidden ? std::min(head.keys, head.position + last) : head.keys};
  }
  std::size_t from = head.keys, end = 0;
  for (std::size_t query = first; query < last; query += kTile) {
    for (std::size_t key = 0; key < head.keys; key += kTile) {
      const TileRange tile = {query, std::min(kTile, last - query), key,
                              std::min(kTile, head.keys - key)};
      if (head.functions->skips(tile)) continue;
      from = std::min(from, key);
      end = std::max(end, key + tile.keys);
    }
  }
  return {std::min(from, end), end};
}

// Computes queries [first, last), which share a packed copy of the keys and values. The copy comes
// after the scratch memory of a block: in front, it could misalign the vectors of the block.
template <class T>
void attend(AttentionHead<T> head, std::size_t first, std::size_t last, T* scratch) {
  // All of these queries see the keys before the first query's position. So only the values at this
  // position and later ones are checked.
  head.skip_hidden = head.is_causal && head.keys > kStep &&
                     all_finite(head.value, head.position + first, head.keys, head.value_dim);
  if (has_few_queries(head)) {  // the first task computes all of their blocks
    if (first == 0) attend_rows(head, scratch);
    return;
  }
  if (last - first > kTile) {
    const auto [from, end] = needed_keys(head, first, last);
    T* const keys = scratch + forward_scratch(head.dim, head.value_dim);
    T* const values = keys + end * head.dim;
    pack(rows_from(head.key, from), end - from, head.dim, keys + from * head.dim);
    pack(rows_from(head.value, from), end - from, head.value_dim, values + from * head.value_dim);
    head.key = {keys, head.dim, 1};
    head.value = {values, head.value_dim, 1};
  }
  for (std::size_t query = first, count; query < last; query += count) {
    count = std::min(kTile - (head.position + query) % kTile, last - query);
    attend_block(head, query, count, scratch);
  }
}

template <class T>
bool is_finite(const HeadMatrix<const T>& matrix, std::size_t rows, std::size_t cols) {
  return all_finite(matrix, 0, rows, cols);
}

const ForTypes<ForwardKernels>& find_forward_kernels() {
  static constexpr ForTypes<ForwardKernels> kAll = {
      {attend, attend_short, hn::MaxLanes(hn::ScalableTag<float>()), is_finite},
      {attend, attend_short, hn::MaxLanes(hn::ScalableTag<double>()), is_finite}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_forward_kernels);

namespace {

// A bool for each head of `value`: true if all elements of the head are finite. Undefined without a
// mask function. The elements are tested here, because several tasks share a head.
template <class T, class F>
Array find_finite(const AttentionHeads<T>& heads, std::int64_t heads_per_key_head,
                  const FunctionPlans<T>& plans, F is_finite) {
  if (!plans.mask) return {};
  Array finite = Array::empty({heads.count() / heads_per_key_head}, boolean);
  parallel_for(0, finite.numel(), 1, [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const AttentionHead<T> head = heads.at(i * heads_per_key_head);
      finite.data<bool>()[i] = is_finite(head.value, head.keys, head.value_dim);
    }
  });
  return finite;
}

template <class T>
void attend_short_heads(const ForwardKernels<T>& kernels, const AttentionHeads<T>& heads,
                        const Array& out, const Array& log_sums) {
  const auto lanes = static_cast<std::int64_t>(kernels.lanes);
  const std::int64_t queries = out.size(-2), tasks = (heads.count() - 1) / lanes + 1;
  parallel_for(0, tasks, heads.short_grain(lanes), [&](std::int64_t begin, std::int64_t end) {
    const Array scratch = Array::empty({heads.short_scratch_size()}, dtype_of<T>());
    for (std::int64_t task = begin; task < end; ++task) {
      ShortHeads<T> group = heads.short_heads(task * lanes, kernels.lanes);
      group.any.out = head_of<T>(out, 0);
      find_heads(out, task * lanes, group.count, group.out);
      for (std::size_t h = 0; h < group.count; ++h) {
        group.log_sums[h] =
            log_sums.data<T>() + 2 * (task * lanes + static_cast<std::int64_t>(h)) * queries;
      }
      kernels.attend_short(group, scratch.data<T>());
    }
  });
}

std::int64_t first_fault(const std::vector<std::int64_t>& faults) {
  std::int64_t first = -1;
  for (const std::int64_t fault : faults) {
    if (fault >= 0 && (first < 0 || fault < first)) first = fault;
  }
  return first;
}

}  // namespace

std::int64_t attention(const Array& out, const Array& log_sums, const Array& query,
                       const Array& key, const Array& value, const AttentionRule& rule) {
  return visit_floating("attention", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (log_sums.numel() == 0) return std::int64_t{-1};
    const auto& kernels = HWY_DYNAMIC_DISPATCH(find_forward_kernels)().template of<T>();
    const AttentionHeads<T> heads(query, key, value, rule);
    count_products(heads.pairs(), query.size(-1) + value.size(-1));
    if (heads.are_short(kMostShort)) {
      attend_short_heads(kernels, heads, out, log_sums);
      return std::int64_t{-1};
    }
    const FunctionPlans<T> plans(rule.functions, nullptr, {});
    const Array finite = find_finite(heads, rule.heads_per_key_head, plans, kernels.is_finite);
    const ForwardTasks tasks(heads.count(), heads.blocks(), rule.position);
    const std::int64_t copied =
        tasks.blocks_per_task > 1 ? key.size(-2) * (query.size(-1) + value.size(-1)) : 0;
    const std::int64_t scratch_size = forward_scratch(query.size(-1), value.size(-1)) + copied;
    const std::int64_t count = heads.count() * tasks.tasks_per_head;
    std::vector<std::int64_t> faults(static_cast<std::size_t>(plans.empty() ? 0 : count), -1);
    const std::int64_t queries = std::min(tasks.queries(), query.size(-2));
    parallel_for(0, count, heads.grain(queries), [&](auto begin, auto end) {
      const Array scratch = Array::empty({scratch_size}, dtype_of<T>());
      std::optional<HeadFunctions<T>> functions;
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t index = task / tasks.tasks_per_head;
        AttentionHead<T> head = heads.at(index);
        head.out = head_of<T>(out, index);
        head.log_sums = log_sums.data<T>() + 2 * index * query.size(-2);
        if (!plans.empty()) {
          head.functions = &functions.emplace(plans);
          functions->begin_head(index, heads.per_batch());
          functions->allow_skipping(finite.defined() &&
                                    finite.data<bool>()[index / rule.heads_per_key_head]);
        }
        kernels.attend(head, static_cast<std::size_t>(tasks.first_query(task)),
                       std::min(head.queries, static_cast<std::size_t>(tasks.end_query(task))),
                       scratch.data<T>());
        if (!functions || functions->fault(head.keys) < 0) continue;
        faults[static_cast<std::size_t>(task)] =
            index * query.size(-2) * key.size(-2) + functions->fault(head.keys);
      }
    });
    return first_fault(faults);
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
