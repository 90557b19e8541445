/// \file
/// What computes matrix products: OpenBLAS, or tend's own kernels.
#pragma once

#include <cstdint>
#include <string_view>

namespace tend {

/// What computes products of float32 and float64 matrices (int64 has one way only). All paths agree
/// but for rounding, and each has the same bits for any number of threads. A row of a product (a
/// token of a sequence) has these bits:
/// - tiles: the same whatever other rows there are, in the same product or in its batch. Every sum
///   runs over k in order. Where the right matrix has at most 256 elements, each product and each
///   sum is rounded by itself.
/// - automatic: those of tiles, for products of at least two columns. A matrix by a vector may be
///   OpenBLAS's, as may gradients of weights, whose rows are not those of a sequence. All are
///   those of tiles with a serial OpenBLAS, which only one thread at a time can call; all but
///   those of a matrix by a vector, if OpenBLAS runs kernels for an older processor. build_info()
///   says so.
/// - blas: OpenBLAS's kernels depend on the number of rows. Of 34 numbers of rows from 2 to 599, 14
///   to 27 changed the bits of the first ones with the kernels for Haswell, and 0 to 27 (mostly
///   those below 32) with those for SkylakeX and Cooperlake (version 0.3.21, widths and depths from
///   64 to 1536). A sequence may have other bits alone, in a batch and as a prefix. Numbers that
///   the other paths print as PyTorch does may differ in their last digit.
enum class MatmulPath : std::uint8_t {
  automatic,  ///< whichever was measured to be faster
  blas,       ///< OpenBLAS, products of every size
  tiles       ///< tend's own kernels, products of every size
};

/// "automatic", "blas" or "tiles".
std::string_view matmul_path_name(MatmulPath path) noexcept;

/// The path of products that this thread computes: that of its innermost MatmulPathGuard, and
/// without one that of the environment variable TEND_MATMUL, which is read once and has one of the
/// names above; anything else is automatic.
MatmulPath matmul_path() noexcept;

/// While it lives, products take `path` on this thread, and in a parallel_for that this thread
/// calls. It ends on the thread that made it.
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
