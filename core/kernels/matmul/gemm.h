// Matrix products, the only part of the library that multiplies with BLAS.
#pragma once

#include <cstdint>
#include <string_view>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Shape of torch.matmul(a, b): a vector counts as a row on the left and as a column on the right,
/// and the result lacks that dimension; dimensions before the last two are batches and broadcast.
/// ShapeError naming `operation`, both shapes and the dimension that does not fit.
/// https://pytorch.org/docs/2.6/generated/torch.matmul.html
Shape matmul_shape(std::string_view operation, const Shape& a, const Shape& b);

/// Whether a row of a product has the same bits whatever other rows there are, in the same product
/// or in its batch.
enum class RowBits {
  same,  ///< as results of sequences need it
  free   ///< may depend on the number of rows: gradients of weights, whose rows are never fewer
};

/// out = alpha * (a @ b) + beta * out, with the shapes of `matmul_shape`. All three have one dtype:
/// float32, float64 or int64 (DTypeError otherwise), and `out` overlaps neither a nor b. int64
/// wraps around, and takes the whole parts of alpha and beta. With beta 0, what `out` held before
/// does not matter, NaN included. Views are multiplied without a copy, except for a matrix of which
/// neither stride is 1. matmul_path() says what multiplies, and what that means for the bits.
///
/// Each call of BLAS runs on one thread, and parallel_for shares the work. To that end OpenBLAS's
/// own number of threads is set to 1, for the whole process.
void matmul(const Array& out, const Array& a, const Array& b, const Scalar& alpha = 1,
            const Scalar& beta = 0, RowBits rows = RowBits::same);

/// out (..., n) = x (..., k) @ the transpose of weight (n, k), + bias where it is defined: in the
/// same pass when that is a row of n floating elements; otherwise it broadcasts to out. All have
/// one dtype, as matmul wants it, and `out` overlaps none of the others.
void linear(const Array& out, const Array& x, const Array& weight, const Array& bias);

/// The number of multiplications and additions in the matrix products and attentions that this
/// thread called, for the profiler; it wraps around.
inline constinit thread_local std::uint64_t flop_count = 0;

/// Counts sums of `depth` products.
inline void count_products(std::int64_t sums, std::int64_t depth) noexcept {
  flop_count += 2 * static_cast<std::uint64_t>(sums) * static_cast<std::uint64_t>(depth);
}

}  // namespace tend::kernels
