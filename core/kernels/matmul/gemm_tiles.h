// Matrix products without BLAS, whose work before and after each product costs more than the
// arithmetic of a small one.
#pragma once

#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// True when this is the faster way for products of this shape and layout.
template <class T>
bool suits_tiles(const MatrixProduct<T>& product);

/// All products of the batch, for shapes and layouts of which suits_tiles is true. The sums run
/// over k in order, so the bits do not depend on how the work is shared.
template <class T>
void multiply_in_tiles(const MatrixProduct<T>& first, const Batch& batch);

/// One product of at most `kTinyWork` multiplications, each product and each sum rounded by itself;
/// for any layout of a and b, and a c whose rows are contiguous.
template <class T>
void multiply_tiny(const MatrixProduct<T>& product);

/// The maximum number of multiplications of multiply_tiny.
inline constexpr double kTinyWork = 256;

}  // namespace tend::kernels
