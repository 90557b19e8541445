// Matrix products without BLAS, whose work before and after each product costs more than the
// arithmetic of a small one.
#pragma once

#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// True for layouts that multiply_in_tiles reads and writes.
template <class T>
bool fits_tiles(const MatrixProduct<T>& product);

/// True when `automatic` takes tiles for products of this shape and layout, which fits_tiles.
template <class T>
bool prefers_tiles(const MatrixProduct<T>& product, RowBits rows);

/// All products of the batch, of a layout that fits_tiles. The sums run over k in order, so
/// the bits depend neither on how the work is shared nor on the number of rows. Where k * n is at
/// most kTinyWork each product and each sum is rounded by itself.
template <class T>
void multiply_in_tiles(const MatrixProduct<T>& first, const Batch& batch);

/// One product of at most `kTinyWork` multiplications, of the same bits; for any layout of a and b,
/// and a c whose rows are contiguous.
template <class T>
void multiply_tiny(const MatrixProduct<T>& product);

/// The maximum number of multiplications of multiply_tiny.
inline constexpr double kTinyWork = 256;

}  // namespace tend::kernels
