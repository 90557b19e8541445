// Products by tiles: tend's own kernels, for products of every size.
#pragma once

#include <cstdint>

#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// At most this many multiplications are so few that nothing is packed for them.
inline constexpr std::int64_t kTinyWork = 256;

/// Sums begin anew after this many terms: a panel of b of this depth stays in the L2 cache,
/// together with the rows of a.
inline constexpr std::int64_t kTileDepth = 1024;

/// True if each product and each sum is rounded by itself, and no FMA is used. Independent of the
/// number of rows, as the bits of a row must be.
template <class T>
bool rounds_each(const MatrixProduct<T>& product) {
  return static_cast<double>(product.a.cols) * static_cast<double>(product.c.cols) <= kTinyWork;
}

/// All products of the batch. Rows of c are contiguous; one stride of a and one of b is 1, except
/// in products of at most kTinyWork multiplications. The sums run over k in order, so the bits
/// depend neither on how the work is shared nor on the number of rows.
template <class T>
void multiply_in_tiles(const MatrixProduct<T>& first, const Batch& batch);

/// A copy of b, one stride of which is 1, in the panels that tiles read. What lies beyond its last
/// column is not initialised.
template <class T>
Array pack_for_tiles(const Matrix<const T>& b);

/// The product, whose b is given by pack_for_tiles(product.b); product.b.data is not read. It is
/// for a few rows, which share the work by columns only. Rows of a are contiguous, as are those of
/// c. The bits are those of multiply_in_tiles for a product that uses an FMA.
template <class T>
void multiply_packed(const MatrixProduct<T>& product, const Array& panels);

}  // namespace tend::kernels
