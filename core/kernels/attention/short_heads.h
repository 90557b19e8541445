// Attention of short sequences, as in toy tasks: many heads of a few queries and keys. Each lane of
// a vector is a head, so no lane is wasted on missing queries, and one call computes several heads.
// The sums run in the same order as in the other kernels, so the bits are the same. Only kernel
// sources include the file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_SHORT_HEADS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SHORT_HEADS_H
#undef TEND_CORE_KERNELS_SHORT_HEADS_H
#else
#define TEND_CORE_KERNELS_SHORT_HEADS_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include <tend/core/kernels/attention/attention_heads.h>
#include <tend/core/kernels/attention/attention_tile.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// Loads a vector from several heads, at the offset `at`. The vector's 128-bit block b is from head
// first + 4 b (double: first + 2 b).
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_heads(D d, const T* const* heads, std::size_t first, std::size_t at) {
  if constexpr (hn::MaxLanes(D()) <= kBlockLanes<T>) {
    return hn::LoadU(d, heads[first] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_heads(half, heads, first + hn::MaxLanes(half), at),
                       load_heads(half, heads, first, at));
  }
}
#endif

// to[(i * cols + j) * lanes + h] = heads[h][i * row + j]
template <class T>
HWY_INLINE void load_heads_in_lanes(const T* const* heads, std::size_t row, std::size_t rows,
                                    std::size_t cols, T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < rows; ++i, to += cols * lanes) {
    std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
    constexpr std::size_t kBlock = kBlockLanes<T>;
    for (; j + kBlock <= cols; j += kBlock) {
      hn::Vec<decltype(d)> blocks[kBlock], columns[kBlock];
      unroll<kBlock>([&](auto b)
                         HWY_ATTR { blocks[b()] = load_heads(d, heads, b(), i * row + j); });
      transpose_blocks(d, blocks, columns);
      unroll<kBlock>([&](auto b) HWY_ATTR { hn::Store(columns[b()], d, to + (j + b()) * lanes); });
    }
#endif
    for (; j < cols; ++j) {
      for (std::size_t h = 0; h < lanes; ++h) to[j * lanes + h] = heads[h][i * row + j];
    }
  }
}

// For each lane, products[j * lanes] = alpha times the dot product of the row `a` and row j of `b`.
// Each sum runs in the order of its terms.
template <std::size_t kRows, class T>
HWY_INLINE void multiply_row(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t dim,
                             T alpha, T* HWY_RESTRICT products) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kRows];
  unroll<kRows>([&](auto j) HWY_ATTR { sums[j()] = hn::Zero(d); });
  for (std::size_t c = 0; c < dim; ++c) {
    const auto element = hn::Load(d, a + c * lanes);
    unroll<kRows>([&](auto j) HWY_ATTR {
      sums[j()] = hn::MulAdd(element, hn::Load(d, b + (j() * dim + c) * lanes), sums[j()]);
    });
  }
  unroll<kRows>([&](auto j) HWY_ATTR {
    hn::Store(hn::Mul(hn::Set(d, alpha), sums[j()]), d, products + j() * lanes);
  });
}

// As multiply_row, for all rows of b.
template <class T>
HWY_INLINE void multiply_rows(const T* a, const T* b, std::size_t rows, std::size_t dim, T alpha,
                              T* products) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  std::size_t j = 0;
  const auto next = [&](auto count) HWY_ATTR {
    multiply_row<count()>(a, b + j * dim * lanes, dim, alpha, products + j * lanes);
    j += count();
  };
  while (j + 6 <= rows) next(std::integral_constant<std::size_t, 6>());
  if (j + 4 <= rows) next(std::integral_constant<std::size_t, 4>());
  if (j + 3 == rows) return next(std::integral_constant<std::size_t, 3>());
  if (j + 2 <= rows) next(std::integral_constant<std::size_t, 2>());
  if (j < rows) next(std::integral_constant<std::size_t, 1>());
}

// to[c] = factor * (alpha * (the sum over i of weights[i * step] * rows[i * row + c]))
template <class T>
HWY_INLINE void weigh_few_rows(std::size_t count, const T* weights, std::size_t step,
                               const T* HWY_RESTRICT rows, std::size_t row, std::size_t cols,
                               T alpha, T factor, T* HWY_RESTRICT to) {
  for_row_vectors<T>(cols, [&](auto d, std::size_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::size_t i = 0; i < count; ++i) {
      sum = hn::MulAdd(hn::Set(d, weights[i * step]), hn::LoadU(d, rows + i * row + c), sum);
    }
    // The other kernels also add the sum to zero, which turns -0 into 0.
    sum = hn::Add(hn::Mul(hn::Set(d, alpha), sum), hn::Zero(d));
    hn::StoreU(hn::Mul(hn::Set(d, factor), sum), d, to + c);
  });
}

// The number of keys that a query sees.
template <class T>
HWY_INLINE std::size_t keys_of_query(const AttentionHead<T>& any, std::size_t query) {
  return any.is_causal ? std::min(any.keys, any.position + query + 1) : any.keys;
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
