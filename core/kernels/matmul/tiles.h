// Products of a size that fits the caches, and transposing: the functions of tile_product.h,
// compiled for the processor at hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// The product c = alpha * a @ b + beta * c + bias. The bias is added to every row.
///
/// Element (i, p) of a is a[i * a_row + p * a_step], and (i, j) of c is c[i * c_row + j]. Element
/// (p, j) of b is b[p * b_row + j]. A packed b consists of panels of `panel_width` columns: panel i
/// begins at b + i * b_panel, and its rows are `b_row` elements apart. All steps are in elements.
template <class T>
struct Tile {
  std::size_t m, n, k;
  const T* a;
  std::size_t a_row, a_step;
  const T* b;
  std::size_t b_row;
  std::size_t b_panel;  // panel_width if b is not packed
  T* c;
  std::size_t c_row;
  T alpha, beta;
  const T* bias = nullptr;  // n elements, or null
};

/// How the terms of a sum are added.
enum class Rounding {
  fused,    // with an FMA, if the target has one
  separate  // each product and each sum is rounded, as in a plain loop
};

template <class T>
struct TileKernels {
  /// The number of columns in a panel of a packed b.
  std::size_t panel_width;

  std::size_t vector_bytes;

  /// Computes c = alpha * a @ b + beta * c + bias with the sums in registers. Every sum runs over k
  /// in order, so blocks of rows or columns have the same bits as in the whole product.
  void (*multiply)(const Tile<T>& tile, Rounding rounding);

  /// Packs columns [0, n) of b (k, n) into one panel of k rows; n is at most panel_width. Element
  /// (p, j) of b is from[p * row + j * column], where one of the steps is 1.
  void (*pack)(std::size_t k, std::size_t n, const T* from, std::size_t row, std::size_t column,
               T* to);

  /// to[c * to_row + r] = from[r * from_row + c]
  void (*transpose)(std::size_t rows, std::size_t cols, const T* from, std::size_t from_row, T* to,
                    std::size_t to_row);
};

const ForTypes<TileKernels>& tile_kernels();

/// Transposes `rows` x `columns` elements of `item` bytes (1, 4 or 8): row r of `to` is column r of
/// `from`.
///
/// `from` has `columns` rows. Rows of `to` start `to_step` bytes apart, and rows of `from` start
/// `from_step` bytes apart. No step is negative, and the two must not overlap.
void transpose_bytes(std::byte* to, std::int64_t to_step, const std::byte* from,
                     std::int64_t from_step, std::int64_t rows, std::int64_t columns,
                     std::int64_t item);

}  // namespace tend::kernels
