// The functions of tile_product.h, compiled for the processor at hand.
#pragma once

#include <cstddef>

#include <tend/core/kernels/matmul/tile.h>
#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

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

}  // namespace tend::kernels
