// The functions of tile_product.h, compiled for the processor at hand.
#pragma once

#include <cstddef>

#include <tend/core/kernels/tile.h>

namespace tend::kernels {

/// c = alpha * a @ b + beta * c in registers. Every sum runs over k in order: a product cut into
/// blocks of rows or of columns has the bits of the whole.
void multiply_tile(const Tile<float>& tile, Rounding rounding);
void multiply_tile(const Tile<double>& tile, Rounding rounding);

/// Columns of a panel of a packed b.
template <class T>
std::size_t panel_width();

/// Packs columns [0, n) of b (k, n), n at most panel_width(), into one panel of k rows. The element
/// (p, j) of b lies at from[p * row + j * column], where one of the steps is 1.
void pack_panel(std::size_t k, std::size_t n, const float* from, std::size_t row,
                std::size_t column, float* to);
void pack_panel(std::size_t k, std::size_t n, const double* from, std::size_t row,
                std::size_t column, double* to);

/// to[c * to_row + r] = from[r * from_row + c]
void transpose_tile(std::size_t rows, std::size_t cols, const float* from, std::size_t from_row,
                    float* to, std::size_t to_row);
void transpose_tile(std::size_t rows, std::size_t cols, const double* from, std::size_t from_row,
                    double* to, std::size_t to_row);

}  // namespace tend::kernels
