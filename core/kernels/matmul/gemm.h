// Matrix products. Only this folder multiplies with BLAS.
#pragma once

#include <cstdint>
#include <string_view>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The shape of torch.matmul(a, b).
///
/// A vector counts as a row on the left and as a column on the right, and the result lacks that
/// dimension. Dimensions before the last two are batches, and broadcast. Errors name `operation`,
/// both shapes and the dimension that does not fit.
///
/// Throws: ShapeError - a shape has no dimension, or the shapes do not fit
///
/// https://pytorch.org/docs/2.6/generated/torch.matmul.html
Shape matmul_shape(std::string_view operation, const Shape& a, const Shape& b);

/// Says whether the bits of a row of a product may depend on the other rows, in the same product or
/// in its batch.
enum class RowBits {
  same,  ///< they do not depend on other rows, as results of sequences require
  free   ///< they may depend on the number of rows, which is fixed in gradients of weights
};

/// Computes out = alpha * (a @ b) + beta * out, with the shapes of `matmul_shape`.
///
/// All three have one dtype: float32, float64 or int64. `out` overlaps neither a nor b. int64 wraps
/// around, and uses the integer parts of alpha and beta. With beta 0 the old values of `out` do not
/// matter, even if they are NaN. A view is copied only if neither stride of its matrices is 1.
/// matmul_path() selects the kernels. MatmulPath documents the bits of each path.
///
/// Each call of BLAS runs on one thread, and parallel_for shares the work. Therefore OpenBLAS's own
/// number of threads is set to 1 for the whole process.
///
/// Throws: DTypeError - the dtypes differ, or are bool
void matmul(const Array& out, const Array& a, const Array& b, const Scalar& alpha = 1,
            const Scalar& beta = 0, RowBits rows = RowBits::same);

/// Computes out (..., n) = x (..., k) @ the transpose of weight (n, k), and adds bias if it is
/// defined.
///
/// A bias of n contiguous floating elements is added in the same pass over `out` as the product.
/// Any other bias broadcasts to out. All arrays have one dtype that matmul accepts, and `out`
/// overlaps no other array.
void linear(const Array& out, const Array& x, const Array& weight, const Array& bias);

/// The number of multiplications and additions in the matrix products and attentions that this
/// thread called. The profiler reads it; it wraps around.
inline constinit thread_local std::uint64_t flop_count = 0;

/// Adds `sums` sums of `depth` products each to flop_count.
inline void count_products(std::int64_t sums, std::int64_t depth) noexcept {
  flop_count += 2 * static_cast<std::uint64_t>(sums) * static_cast<std::uint64_t>(depth);
}

}  // namespace tend::kernels
