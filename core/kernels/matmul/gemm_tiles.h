// Products in tiles: tend's own kernels, for products of every size.
#pragma once

#include <cstdint>

#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// Products of at most this many multiplications are computed without packing anything.
inline constexpr std::int64_t kTinyWork = 256;

/// Sums are stored after this many terms, and then continued. A panel of b of this depth stays in
/// the L2 cache, together with the rows of a.
inline constexpr std::int64_t kTileDepth = 1024;

/// True if each product and each sum is rounded separately, without an FMA. The number of rows does
/// not matter here, because the bits of a row must not depend on the number of rows.
template <class T>
bool rounds_each(const MatrixProduct<T>& product) {
  return static_cast<double>(product.a.cols) * static_cast<double>(product.c.cols) <= kTinyWork;
}

/// Computes all products of the batch.
///
/// Rows of c are contiguous. One stride of a and one of b is 1, except in products of at most
/// kTinyWork multiplications. The sums run over k in order, so the bits depend neither on how the
/// work is shared nor on the number of rows.
template <class T>
void multiply_in_tiles(const MatrixProduct<T>& first, const Batch& batch);

/// Copies b, one stride of which is 1, into the panels that tiles read. In the last panel, elements
/// after the last column of b are not initialised.
template <class T>
Array pack_for_tiles(const Matrix<const T>& b);

/// Computes the product of a few rows with a packed b: panels = pack_for_tiles(product.b).
///
/// product.b.data is not read. Threads share the work by columns only. Rows of a and of c are
/// contiguous. The result has the same bits as from multiply_in_tiles, for a product that uses an
/// FMA.
template <class T>
void multiply_packed(const MatrixProduct<T>& product, const Array& panels);

}  // namespace tend::kernels
