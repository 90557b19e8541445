// Matrix products by OpenBLAS, and what other calls of OpenBLAS need. blas.cpp is the only source
// of the library that includes cblas.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// The version and build options that OpenBLAS reports.
std::string blas_config();

/// The core type whose kernels OpenBLAS runs, "SkylakeX" for example.
std::string blas_core();

/// True if several threads may be inside OpenBLAS at the same time.
///
/// A serial build has no locks, unless its build options name USE_LOCKING. Without locks two
/// threads would get the same buffer, and both products would be wrong.
bool blas_calls_may_overlap();

/// Allows the calling thread to call OpenBLAS while the object exists.
///
/// OpenBLAS then runs on this thread only. Other threads wait if calls must not overlap.
class BlasScope {
 public:
  BlasScope();
  ~BlasScope();
  BlasScope(const BlasScope&) = delete;
  BlasScope& operator=(const BlasScope&) = delete;

 private:
  std::unique_lock<std::mutex> turn_;
  int openmp_threads_;  // the thread's earlier setting
};

/// False if OpenBLAS runs kernels for an older processor, whose vectors are narrower than tend's.
bool blas_fits_processor();

/// The limit for sizes and strides that are passed to BLAS. It is well below the largest int, with
/// which BLAS counts.
inline constexpr std::int64_t kBlasLimit = std::int64_t{1} << 30;

/// How BLAS can read a matrix: row-major, column-major, or not at all.
enum class BlasLayout { none, rows, columns };
template <class T>
BlasLayout blas_layout(const Matrix<T>& x);

/// Computes one product of matrices that BLAS can read.
///
/// c has at most kBlasLimit rows and columns, and is row-major if it has more than one of each.
/// BLAS runs on the calling thread only, since parallel_for shares the work: OpenBLAS's own number
/// of threads is set to 1 for the whole process.
template <class T>
void multiply_blas(const MatrixProduct<T>& product);

}  // namespace tend::kernels
