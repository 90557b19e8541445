// Attention of few queries, such as a single token with a cache of keys. Here the scores of a query
// are a row; in attention_tile.h, they are a SIMD lane. The products read keys and values only
// once, and do not pack them. Only kernel sources include the file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_FEW_QUERIES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_FEW_QUERIES_H
#undef TEND_CORE_KERNELS_FEW_QUERIES_H
#else
#define TEND_CORE_KERNELS_FEW_QUERIES_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include <tend/core/kernels/attention/attention_tile.h>
#include <tend/core/kernels/matmul/few_rows.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// True if attend_few can compute the head. With more queries, tiles of 16 lanes are faster.
template <class T>
HWY_INLINE bool has_few_queries(const AttentionHead<T>& head) {
  const auto fits = [](const HeadMatrix<const T>& matrix) {
    return matrix.row == 1 || matrix.step == 1;
  };
  return head.queries < kFewRows && !head.functions && fits(head.key) && fits(head.value);
}

// The keys of a tile that the query sees: a bit for each key.
template <class T>
HWY_INLINE std::uint64_t visible_keys(const AttentionHead<T>& head, std::size_t query,
                                      const TileRange& tile) {
  std::uint64_t bits = first_bits(tile.keys);
  if (head.allowed.data) {
    bits = bits_of(head.allowed.at(query, tile.key), head.allowed.step, tile.keys);
  }
  const std::size_t end = head.position + query + 1;
  if (!head.is_causal || end >= tile.key + tile.keys) return bits;
  return end > tile.key ? bits & first_bits(end - tile.key) : 0;
}

// Turns a query's row of scores into weights, relative to the query's largest score so far. Returns
// the factor that makes earlier sums relative to this score, too.
template <class T>
HWY_INLINE T weigh_row(const AttentionHead<T>& head, std::size_t query, const TileRange& tile,
                       T* HWY_RESTRICT scores, T& largest) {
  const hn::CappedTag<T, kStep> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto hidden = hn::Set(d, -kInfinity<T>);
  if (head.added.data) {
    const T* added = head.added.at(query, tile.key);
    for (std::size_t j = 0; j < tile.keys; ++j) scores[j] += added[j * head.added.step];
  }
  const std::uint64_t visible = visible_keys(head, query, tile);
  auto most = hn::Set(d, largest);
  for (std::size_t j = 0; j < tile.keys; j += lanes) {
    const auto score =
        hn::IfThenElse(mask_from_bits(d, visible >> j), hn::Load(d, scores + j), hidden);
    hn::Store(score, d, scores + j);
    most = hn::Max(most, score);
  }
  most = hn::MaxOfLanes(d, most);
  // If all scores are -inf, 0 is subtracted instead: -inf - -inf would be NaN.
  const auto level = hn::IfThenZeroElse(hn::Eq(most, hidden), most);
  const auto factor = exp_not_positive(d, hn::Sub(hn::Set(d, largest), level));
  for (std::size_t j = 0; j < tile.keys; j += lanes) {
    hn::Store(exp_not_positive(d, hn::Sub(hn::Load(d, scores + j), level)), d, scores + j);
  }
  largest = hn::GetLane(most);
  return hn::GetLane(factor);
}

// Adds the weights of a tile to the sums of the queries. Each sum runs over the keys in order. Four
// queries are summed at once.
template <class T>
HWY_INLINE void add_weights(const TileRange& tile, const T* scores, T* HWY_RESTRICT sum) {
  std::size_t i = 0;
  for (; i + 4 <= tile.queries; i += 4) {
    T sums[4] = {sum[i], sum[i + 1], sum[i + 2], sum[i + 3]};
    for (std::size_t j = 0; j < tile.keys; ++j) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += scores[(i + k) * kTile + j];
    }
    std::copy_n(sums, 4, sum + i);
  }
  for (; i < tile.queries; ++i) {
    for (std::size_t j = 0; j < tile.keys; ++j) sum[i] += scores[i * kTile + j];
  }
}

template <class T>
HWY_INLINE void drop_weights(const AttentionHead<T>& head, const TileRange& tile, T* scores) {
  if (!head.kept) return;
  for (std::size_t i = 0; i < tile.queries; ++i) {
    const std::uint64_t kept = kept_keys(head, i, tile);
    for (std::size_t j = 0; j < tile.keys; ++j) {
      if ((kept >> j & 1) == 0) scores[i * kTile + j] = T(0);
    }
  }
}

// Computes the contexts of the queries, before division by the sums. A context is a row of
// value_dim elements.
template <class T>
HWY_INLINE void attend_few(const AttentionHead<T>& head, T* HWY_RESTRICT scratch, T* largest,
                           T* sum, T* HWY_RESTRICT context) {
  const FewRowsKernel<T> multiply = few_rows_kernels().of<T>();
  T* const query = scratch;
  T* const scores = query + head.dim * kTile;
  pack(head.query, head.queries, head.dim, query);
  const std::size_t end = head.is_causal && head.skip_hidden
                              ? std::min(head.keys, head.position + head.queries)
                              : head.keys;
  for (std::size_t key = 0; key < end; key += kTile) {
    const TileRange tile = {0, head.queries, key, std::min(kTile, end - key)};
    multiply({.rows = head.queries,
              .columns = tile.keys,
              .k = head.dim,
              .a = query,
              .a_row = head.dim,
              .b = head.key.at(key),
              .b_step = head.key.step,
              .b_column = head.key.row,
              .c = scores,
              .c_row = kTile,
              .alpha = head.scale,
              .beta = T(0)});
    for (std::size_t i = 0; i < head.queries; ++i) {
      const T factor = weigh_row(head, i, tile, scores + i * kTile, largest[i]);
      if (factor == T(1)) continue;
      sum[i] *= factor;
      for (std::size_t v = 0; v < head.value_dim; ++v) context[i * head.value_dim + v] *= factor;
    }
    add_weights(tile, scores, sum);
    drop_weights(head, tile, scores);
    multiply({.rows = head.queries,
              .columns = head.value_dim,
              .k = tile.keys,
              .a = scores,
              .a_row = kTile,
              .b = head.value.at(key),
              .b_step = head.value.row,
              .b_column = head.value.step,
              .c = context,
              .c_row = head.value_dim,
              .alpha = T(1),
              .beta = T(1)});
  }
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
