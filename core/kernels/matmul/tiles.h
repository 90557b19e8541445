// Products of a size that fits the caches, and transposing: the functions of tile_product.h,
// compiled for the processor at hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// c = alpha * a @ b + beta * c + bias, the last for every row. The element (i, p) of a lies at a[i
/// * a_row + p * a_step], (i, j) of c at c[i * c_row + j], (p, j) of b at b[p * b_row + j] or, when
/// b is packed, in panels of `panel_width` columns: panel j / width at b + j / width * b_panel, in
/// it rows of `b_row` elements. All steps are in elements.
template <class T>
struct Tile {
  std::size_t m, n, k;
  const T* a;
  std::size_t a_row, a_step;
  const T* b;
  std::size_t b_row;
  std::size_t b_panel;  // the panels' width when b is not packed
  T* c;
  std::size_t c_row;
  T alpha, beta;
  const T* bias = nullptr;  // n elements, or none
};

/// How the terms of a sum are added.
enum class Rounding {
  fused,    // with an FMA, where the target has one
  separate  // each product and each sum rounded by itself, which is what a plain loop does
};

template <class T>
struct TileKernels {
  /// Columns of a panel of a packed b.
  std::size_t panel_width;

  std::size_t vector_bytes;

  /// c = alpha * a @ b + beta * c in registers. Every sum runs over k in order: a product cut into
  /// blocks of rows or of columns has the bits of the whole.
  void (*multiply)(const Tile<T>& tile, Rounding rounding);

  /// Packs columns [0, n) of b (k, n), n at most panel_width, into one panel of k rows. The element
  /// (p, j) of b lies at from[p * row + j * column], where one of the steps is 1.
  void (*pack)(std::size_t k, std::size_t n, const T* from, std::size_t row, std::size_t column,
               T* to);

  /// to[c * to_row + r] = from[r * from_row + c]
  void (*transpose)(std::size_t rows, std::size_t cols, const T* from, std::size_t from_row, T* to,
                    std::size_t to_row);
};

const ForTypes<TileKernels>& tile_kernels();

/// Row r of `to` is column r of `from`, for `rows` x `columns` elements of `item` bytes (1, 4 or
/// 8). Rows of `to` start `to_step` bytes apart, rows of `from` (of which there are `columns`)
/// `from_step`, not negative; the two must not overlap.
void transpose_bytes(std::byte* to, std::int64_t to_step, const std::byte* from,
                     std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                     std::int64_t item);

}  // namespace tend::kernels
