// Matrix products of a size that fits the caches, with the sums in registers. The file is compiled
// once for every SIMD target that Highway offers. Only kernel sources include it, after
// <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_TILE_PRODUCT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_TILE_PRODUCT_H
#undef TEND_CORE_KERNELS_TILE_PRODUCT_H
#else
#define TEND_CORE_KERNELS_TILE_PRODUCT_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <tend/core/kernels/matmul/tiles.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The rows and vectors of a tile of c. Its sums fit the registers together with kTileVectors
// vectors of a row of b and one broadcast element of a.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 || \
    HWY_TARGET == HWY_SSE2
inline constexpr std::size_t kTileRows = 6, kTileVectors = 2;
#else
inline constexpr std::size_t kTileRows = 6, kTileVectors = 4;
#endif

// True if part of a vector can be loaded and stored without touching the rest. On other targets
// Highway loads all lanes, and version 1.0 requires them to be aligned. (Highway's targets for x86
// have the lowest numbers, and better targets have lower numbers than worse ones.)
inline constexpr bool kMasksTails = HWY_TARGET <= HWY_AVX2;

// Calls f with the constants 0 to kCount - 1. Compilers do not unroll every loop, but they keep
// arrays of vectors in registers only if the loops over them are unrolled.
template <class F, std::size_t... kIndices>
HWY_INLINE void unroll(F f, std::index_sequence<kIndices...>) {
  (f(std::integral_constant<std::size_t, kIndices>()), ...);
}
template <std::size_t kCount, class F>
HWY_INLINE void unroll(F f) {
  unroll(f, std::make_index_sequence<kCount>());
}

// Computes kRows rows by kVectors vectors of c. With kTail, only the first `last` lanes of the last
// vector belong to c; this needs kMasksTails.
template <Rounding kRounding, std::size_t kRows, std::size_t kVectors, bool kTail, class D,
          class T = hn::TFromD<D>>
HWY_INLINE void multiply_tile(D d, const Tile<T>& tile, const T* HWY_RESTRICT a,
                              const T* HWY_RESTRICT b, T* HWY_RESTRICT c,
                              const T* HWY_RESTRICT bias, std::size_t last) {
  const std::size_t lanes = hn::Lanes(d);
  const auto mask = hn::FirstN(d, last);
  const auto load = [&](const T* from, auto v) HWY_ATTR {
    if constexpr (kTail && v() + 1 == kVectors) {
      return hn::MaskedLoad(mask, d, from + v() * lanes);
    } else {
      return hn::LoadU(d, from + v() * lanes);
    }
  };
  hn::Vec<D> sums[kRows * kVectors];
  unroll<kRows * kVectors>([&](auto at) HWY_ATTR { sums[at()] = hn::Zero(d); });
  for (std::size_t p = 0; p < tile.k; ++p) {
    hn::Vec<D> columns[kVectors];
    unroll<kVectors>([&](auto v) HWY_ATTR { columns[v()] = load(b, v); });
    unroll<kRows>([&](auto i) HWY_ATTR {
      const auto element = hn::Set(d, a[i() * tile.a_row]);
      unroll<kVectors>([&](auto v) HWY_ATTR {
        auto& sum = sums[i() * kVectors + v()];
        if constexpr (kRounding == Rounding::fused) {
          sum = hn::MulAdd(element, columns[v()], sum);
        } else {
          sum = hn::Add(sum, hn::Mul(element, columns[v()]));
        }
      });
    });
    a += tile.a_step;
    b += tile.b_row;
  }
  const auto alpha = hn::Set(d, tile.alpha), beta = hn::Set(d, tile.beta);
  unroll<kRows>([&](auto i) HWY_ATTR {
    T* HWY_RESTRICT to = c + i() * tile.c_row;
    unroll<kVectors>([&](auto v) HWY_ATTR {
      auto sum = hn::Mul(alpha, sums[i() * kVectors + v()]);
      if (tile.beta != T(0)) sum = hn::Add(sum, hn::Mul(beta, load(to, v)));
      if (bias) sum = hn::Add(sum, load(bias, v));
      if constexpr (kTail && v() + 1 == kVectors) {
        hn::BlendedStore(sum, mask, d, to + v() * lanes);
      } else {
        hn::StoreU(sum, d, to + v() * lanes);
      }
    });
  });
}

/// The number of elements in a row of a panel, which is also the width of a tile of c.
template <class T>
HWY_INLINE constexpr std::size_t panel_width() {
  return kTileVectors * hn::MaxLanes(hn::ScalableTag<T>());
}

// Computes all rows of kVectors vectors of columns of c.
template <Rounding kRounding, std::size_t kVectors, bool kTail, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_strip(D d, const Tile<T>& tile, std::size_t column, std::size_t last) {
  const T* a = tile.a;
  const std::size_t width = panel_width<T>();
  const T* b = tile.b + column / width * tile.b_panel + column % width;
  T* c = tile.c + column;
  const T* bias = tile.bias ? tile.bias + column : nullptr;
  std::size_t rows = tile.m;
  const auto next = [&](auto count) HWY_ATTR {
    multiply_tile<kRounding, count(), kVectors, kTail>(d, tile, a, b, c, bias, last);
    a += count() * tile.a_row;
    c += count() * tile.c_row;
    rows -= count();
  };
  if constexpr (kVectors == 1) {  // enough sums to hide the latency of an addition
    while (rows >= 2 * kTileRows) next(std::integral_constant<std::size_t, 2 * kTileRows>());
  }
  while (rows >= kTileRows) next(std::integral_constant<std::size_t, kTileRows>());
  if (rows >= 4) next(std::integral_constant<std::size_t, 4>());
  if (rows >= 2) next(std::integral_constant<std::size_t, 2>());
  if (rows >= 1) next(std::integral_constant<std::size_t, 1>());
}

/// Computes the product of a Tile. For all sizes, every sum adds its k terms in order. So blocks of
/// rows or columns have the same bits as in the whole product.
template <Rounding kRounding, class T>
HWY_INLINE void multiply(const Tile<T>& tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + kTileVectors * lanes <= tile.n; column += kTileVectors * lanes) {
    multiply_strip<kRounding, kTileVectors, false>(d, tile, column, 0);
  }
  const auto strip = [&](auto tag, auto vectors, auto tail, std::size_t last) HWY_ATTR {
    multiply_strip<kRounding, vectors(), tail()>(tag, tile, column, last);
    column += vectors() * hn::Lanes(tag);
  };
  if constexpr (kMasksTails) {
    const std::size_t rest = tile.n - column;
    const std::size_t vectors = (rest + lanes - 1) / lanes;
    unroll<kTileVectors>([&](auto before) HWY_ATTR {
      constexpr std::size_t kVectors = before() + 1;
      if (vectors != kVectors) return;
      const std::size_t last = rest - before() * lanes;
      strip(d, std::integral_constant<std::size_t, kVectors>(), std::true_type(), last);
    });
  } else {
    const std::integral_constant<std::size_t, 1> one;
    while (column + lanes <= tile.n) strip(d, one, std::false_type(), 0);
    while (column < tile.n) strip(hn::CappedTag<T, 1>(), one, std::false_type(), 0);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// The number of elements in 128 bits.
template <class T>
inline constexpr std::size_t kBlockLanes = 16 / sizeof(T);

/// Transposes columns of 128-bit blocks: rows[0] gets the first elements of all columns, rows[1]
/// the second ones, and so on.
///
/// The blocks of columns[0] are from columns 0, 4, 8, ... The blocks of columns[1] are from columns
/// 1, 5, 9, ... For doubles they are from columns 0, 2, 4, ... and 1, 3, 5, ...
template <class D>
HWY_INLINE void transpose_blocks(D d, const hn::Vec<D>* columns, hn::Vec<D>* rows) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    rows[0] = hn::InterleaveLower(d, columns[0], columns[1]);
    rows[1] = hn::InterleaveUpper(d, columns[0], columns[1]);
  } else {
    const hn::RepartitionToWide<D> wide;
    const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, columns[0], columns[1]));
    const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, columns[2], columns[3]));
    const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, columns[0], columns[1]));
    const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, columns[2], columns[3]));
    rows[0] = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
    rows[1] = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
    rows[2] = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
    rows[3] = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
  }
}

// to = the transpose of 4 x 4 floats, or of 2 x 2 doubles.
HWY_INLINE void transpose_block(const float* HWY_RESTRICT from, std::size_t from_row,
                                float* HWY_RESTRICT to, std::size_t to_row) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto row = [&](std::size_t i) HWY_ATTR { return hn::LoadU(d, from + i * from_row); };
  const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  // First interleaves rows 0 and 1, and rows 2 and 3. Then interleaves pairs of the results.
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, to + to_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, to + 2 * to_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, to + 3 * to_row);
}
HWY_INLINE void transpose_block(const double* HWY_RESTRICT from, std::size_t from_row,
                                double* HWY_RESTRICT to, std::size_t to_row) {
  const hn::FixedTag<double, 2> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_row);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_row);
}
#endif

// Uses memcpy, since the elements may be of another type of this size.
template <class T>
HWY_INLINE void move_element(const T* from, T* to) {
  std::memcpy(to, from, sizeof(T));
}

/// to[c * to_row + r] = from[r * from_row + c] for `rows` x `cols` elements.
template <class T>
HWY_INLINE void transpose(std::size_t rows, std::size_t cols, const T* HWY_RESTRICT from,
                          std::size_t from_row, T* HWY_RESTRICT to, std::size_t to_row) {
  std::size_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t kBlock = 16 / sizeof(T);
  // Hardware prefetchers do not foresee rows that are far apart, so they are prefetched here.
  constexpr std::size_t kAhead = 8 * kBlock, kLine = 64 / sizeof(T);
  for (; r + kBlock <= rows; r += kBlock) {
    for (std::size_t i = r + kAhead; i < std::min(r + kAhead + kBlock, rows); ++i) {
      for (std::size_t c = 0; c < cols; c += kLine) hwy::Prefetch(from + i * from_row + c);
    }
    std::size_t c = 0;
    for (; c + kBlock <= cols; c += kBlock) {
      transpose_block(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
    }
    for (; c < cols; ++c) {
      for (std::size_t i = r; i < r + kBlock; ++i) {
        move_element(from + i * from_row + c, to + c * to_row + i);
      }
    }
  }
#endif
  for (; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      move_element(from + r * from_row + c, to + c * to_row + r);
    }
  }
}

/// Packs b (k, n), whose element (p, j) is from[p * from_row + j], into panels. The last panel's
/// elements after column n are neither written nor read.
template <class T>
HWY_INLINE void pack_rows(std::size_t k, std::size_t n, const T* HWY_RESTRICT from,
                          std::size_t from_row, T* HWY_RESTRICT to) {
  const std::size_t width = panel_width<T>();
  for (std::size_t column = 0; column < n; column += width) {
    const std::size_t count = std::min(width, n - column);
    for (std::size_t p = 0; p < k; ++p) {
      std::copy_n(from + p * from_row + column, count, to + column * k + p * width);
    }
  }
}

/// As pack_rows, for a b whose element (p, j) is from[j * from_column + p].
template <class T>
HWY_INLINE void pack_columns(std::size_t k, std::size_t n, const T* HWY_RESTRICT from,
                             std::size_t from_column, T* HWY_RESTRICT to) {
  const std::size_t width = panel_width<T>();
  for (std::size_t column = 0; column < n; column += width) {
    transpose(std::min(width, n - column), k, from + column * from_column, from_column,
              to + column * k, width);
  }
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
