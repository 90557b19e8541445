// The operations on a tile that the forward and the backward kernel of attention share. The scores
// of a tile have a row for each key and a lane for each query. So the maximum and the sum of a
// query's scores are computed within its lane, and both products of a tile read whole rows. Only
// kernel sources include the file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_ATTENTION_TILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_ATTENTION_TILE_H
#undef TEND_CORE_KERNELS_ATTENTION_TILE_H
#else
#define TEND_CORE_KERNELS_ATTENTION_TILE_H
#endif

#include <hwy/highway.h>

#include <limits>

#include <tend/core/kernels/attention/attention_head.h>
#include <tend/core/kernels/attention/head_functions.h>
#include <tend/core/kernels/matmul/tile_product.h>
#include <tend/core/kernels/matmul/tiles.h>
#include <tend/core/kernels/simd/mask_bits.h>
#include <tend/core/kernels/simd/simd_loop.h>
#include <tend/core/kernels/simd/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

inline constexpr std::size_t kTile = kAttentionTile;
// The number of lanes of a block is a multiple of kStep. In tiles on the diagonal, weights are
// skipped in steps of kStep queries or keys.
inline constexpr std::size_t kStep = kAttentionStep;
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();

// Calls the kernel of tiles.cpp. Its code is large, and compiling a copy of it here would take
// long.
template <class T>
HWY_INLINE void product(const Tile<T>& tile) {
  tile_kernels().of<T>().multiply(tile, Rounding::fused);
}

// Copies a short row. A call of memcpy for each row would cost more.
template <class T>
HWY_INLINE void copy_row(const T* HWY_RESTRICT from, std::size_t count, T* HWY_RESTRICT to) {
  for_vectors(hn::ScalableTag<T>(), count, [=](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  });
}

// Copies a matrix to contiguous rows at `to`, and returns the copy. Rows that are far apart would
// map to few cache sets.
template <class T>
HWY_INLINE HeadMatrix<const T> pack(const HeadMatrix<const T>& from, std::size_t rows,
                                    std::size_t cols, T* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    const T* row = from.at(i);
    if (from.step == 1) {
      copy_row(row, cols, to + i * cols);
    } else {
      for (std::size_t j = 0; j < cols; ++j) to[i * cols + j] = row[j * from.step];
    }
  }
  return {to, cols, 1};
}

// to[c * kTile + r] = from(r, c) for `count` rows r. The other lanes become 0.
template <class T>
HWY_INLINE void load_lanes(const HeadMatrix<const T>& from, std::size_t count, std::size_t cols,
                           std::size_t lanes, T* HWY_RESTRICT to) {
  if (from.step == 1) {
    transpose(count, cols, from.data, from.row, to, kTile);
  } else {
    for (std::size_t c = 0; c < cols; ++c) {
      for (std::size_t r = 0; r < count; ++r) to[c * kTile + r] = *from.at(r, c);
    }
  }
  if (count == lanes) return;
  for (std::size_t c = 0; c < cols; ++c) {
    std::fill(to + c * kTile + count, to + c * kTile + lanes, T(0));
  }
}

// The inverse of load_lanes, for `count` lanes. It writes a few rows at a time, since rows that are
// far apart may map to one cache set.
template <class T>
HWY_INLINE void store_lanes(const T* HWY_RESTRICT from, std::size_t count, std::size_t cols,
                            const HeadMatrix<T>& to, std::size_t first) {
  constexpr std::size_t kRows = 4;
  for (std::size_t i = 0; i < count; i += kRows) {
    transpose(cols, std::min(kRows, count - i), from + i, kTile, to.at(first + i), to.row);
  }
}

// True if all elements are finite. Products with the zero weights of hidden keys are then zero, and
// may be skipped. The test is a sum of products with zero, which is either zero or NaN.
template <class T>
HWY_INLINE bool all_finite(const HeadMatrix<const T>& matrix, std::size_t first, std::size_t rows,
                           std::size_t cols) {
  const hn::ScalableTag<T> d;
  auto sums = hn::Zero(d);
  T sum = 0;
  for (std::size_t i = first; i < rows; ++i) {
    const T* row = matrix.at(i);
    std::size_t j = 0;
    if (matrix.step == 1) {
      for (; j + hn::Lanes(d) <= cols; j += hn::Lanes(d)) {
        sums = hn::MulAdd(hn::Zero(d), hn::LoadU(d, row + j), sums);
      }
    }
    for (; j < cols; ++j) sum += row[j * matrix.step] * T(0);
  }
  return sum == 0 && hn::AllTrue(d, hn::Eq(sums, hn::Zero(d)));
}

template <class T>
HWY_INLINE HeadMatrix<const T> rows_from(const HeadMatrix<const T>& matrix, std::size_t row) {
  return {matrix.at(row), matrix.row, matrix.step};
}

// True if a tile is on the diagonal, and weights above the diagonal may be skipped.
//
// Products then skip most of these weights. Some products read kStep keys at a time, with only the
// queries at or after the first of these keys. Other products read kStep queries at a time, with
// only the keys up to the last of these queries.
template <class T>
HWY_INLINE bool on_diagonal(const AttentionHead<T>& head, const TileRange& tile) {
  return head.is_causal && head.skip_hidden && tile.key == head.position + tile.query;
}

// Calls f(first key, keys, first lane) for the whole tile, or for each step of a tile on the
// diagonal.
template <class F>
HWY_INLINE void for_steps(bool diagonal, std::size_t keys, F f) {
  if (!diagonal) return f(std::size_t{0}, keys, std::size_t{0});
  for (std::size_t j = 0; j < keys; j += kStep) f(j, std::min(kStep, keys - j), j);
}

// The number of keys that a lane needs in a tile on the diagonal.
HWY_INLINE std::size_t keys_of_step(const TileRange& tile, std::size_t lane) {
  return std::min(tile.keys, (lane / kStep + 1) * kStep);
}

// c(j, i) = alpha times the dot product of row j of `matrix` and lane i of `by_dim`. Row 0 belongs
// to the first key of the tile.
template <class T>
HWY_INLINE void rows_by_lanes(bool diagonal, std::size_t keys, const HeadMatrix<const T>& matrix,
                              std::size_t dim, const T* by_dim, std::size_t lanes, T alpha, T* c) {
  for_steps(diagonal, keys, [&](std::size_t key, std::size_t count, std::size_t lane) HWY_ATTR {
    product<T>({count, lanes - lane, dim, matrix.at(key), matrix.row, matrix.step, by_dim + lane,
                kTile, panel_width<T>(), c + key * kTile + lane, kTile, alpha, T(0)});
  });
}

// c(d, i) += alpha times the sum of matrix(j, d) * weights(j, i) over the keys j of the tile.
template <class T>
HWY_INLINE void weigh_rows(bool diagonal, std::size_t keys, const HeadMatrix<const T>& matrix,
                           std::size_t dim, const T* weights, std::size_t lanes, T alpha, T* c) {
  for_steps(diagonal, keys, [&](std::size_t key, std::size_t count, std::size_t lane) HWY_ATTR {
    product<T>({dim, lanes - lane, count, matrix.at(key), matrix.step, matrix.row,
                weights + key * kTile + lane, kTile, panel_width<T>(), c + lane, kTile, alpha,
                T(1)});
  });
}

// Adds the floating mask to the scores.
template <class T>
void add_mask(const AttentionHead<T>& head, const TileRange& tile, T* scores) {
  T by_query[kTile * kTile], by_key[kTile * kTile];
  for (std::size_t i = 0; i < tile.queries; ++i) {
    const T* row = head.added.at(tile.query + i, tile.key);
    for (std::size_t j = 0; j < tile.keys; ++j) by_query[i * kTile + j] = row[j * head.added.step];
  }
  transpose(tile.queries, tile.keys, by_query, kTile, by_key, kTile);
  for (std::size_t j = 0; j < tile.keys; ++j) {
    for (std::size_t i = 0; i < tile.queries; ++i) scores[j * kTile + i] += by_key[j * kTile + i];
  }
}

// Computes the scores of a tile, and sets `visible`, which marks the scores that are not hidden.
template <class T>
HWY_INLINE void compute_scores(const AttentionHead<T>& head, const TileRange& tile, const T* query,
                               std::size_t lanes, T* scores, TileBits& visible) {
  find_visible(head, tile, visible);
  rows_by_lanes(on_diagonal(head, tile), tile.keys, rows_from(head.key, tile.key), head.dim, query,
                lanes, head.scale, scores);
  if (head.added.data) add_mask(head, tile, scores);
}

// Calls f for the tiles of a block of queries, with the keys before `end`. Tiles that may be
// skipped are left out.
template <class T, class F>
HWY_INLINE void for_tiles(const AttentionHead<T>& head, std::size_t first, std::size_t count,
                          std::size_t end, F f) {
  if (head.functions) head.functions->begin_block(first, count);
  for (std::size_t key = 0; key < end; key += kTile) {
    const TileRange tile = {first, count, key, std::min(kTile, end - key)};
    if (!head.functions || !head.functions->skips(tile)) f(tile);
  }
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
