/// \file
/// The path of matrix products: OpenBLAS, or tend's own kernels.
#pragma once

#include <cstdint>
#include <string_view>

namespace tend {

/// Selects what computes products of float32 and float64 matrices.
///
/// Products of int64 matrices have only one path. The results of the paths differ only by rounding,
/// and each path gives the same bits for any number of threads. The bits of one row of a product
/// (a token of a sequence) depend on the path:
/// - tiles: The bits of a row do not depend on the other rows, in the same product or in its batch.
///   Every sum runs over k in order. If the right matrix has at most 256 elements, each product and
///   each sum is rounded separately.
/// - automatic: Products with at least two columns have the same bits as with tiles. There is one
///   exception, gradients of weights: their rows are not tokens. OpenBLAS may compute these
///   gradients, and products of a matrix by a vector. With a serial OpenBLAS, which only one thread
///   at a time can call, all products have the same bits as with tiles. If OpenBLAS runs kernels
///   for an older processor, only products of a matrix by a vector may have other bits.
///   build_info() reports both cases.
/// - blas: OpenBLAS's kernels depend on the number of rows. A sequence may get different bits
///   alone, in a batch and as a prefix. Printed numbers may differ from PyTorch's in their last
///   digit, where the other paths agree with PyTorch. Measured with version 0.3.21, widths and
///   depths from 64 to 1536, and 34 numbers of rows from 2 to 599: With the kernels for Haswell,
///   14 to 27 of the 34 numbers of rows changed the bits of the first rows, depending on width and
///   depth. With the kernels for SkylakeX and Cooperlake, 0 to 27 did, mostly those below 32.
enum class MatmulPath : std::uint8_t {
  automatic,  ///< the path that was measured to be faster
  blas,       ///< OpenBLAS, for products of every size
  tiles       ///< tend's own kernels, for products of every size
};

/// The name of a path: "automatic", "blas" or "tiles".
std::string_view matmul_path_name(MatmulPath path) noexcept;

/// The path of products that this thread computes.
///
/// The thread's innermost MatmulPathGuard sets it. Without a guard, the environment variable
/// TEND_MATMUL sets it to one of the names above; any other value means automatic. The variable is
/// read once.
MatmulPath matmul_path() noexcept;

/// Sets the path of products while the guard exists, on this thread and in each parallel_for that
/// this thread calls.
///
/// The guard must be destroyed on the thread that created it.
class MatmulPathGuard {
 public:
  [[nodiscard]] explicit MatmulPathGuard(MatmulPath path) noexcept;
  ~MatmulPathGuard();
  MatmulPathGuard(const MatmulPathGuard&) = delete;
  MatmulPathGuard& operator=(const MatmulPathGuard&) = delete;

 private:
  std::uint8_t before_;
};

}  // namespace tend
