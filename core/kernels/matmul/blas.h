// OpenBLAS: what its calls need, and products by it. blas.cpp is the library's only source that
// includes cblas.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include <tend/core/kernels/matmul/gemm_product.h>

namespace tend::kernels {

/// Version and build options of OpenBLAS, as it states them.
std::string blas_config();

/// The core type whose kernels OpenBLAS runs, "SkylakeX" for example.
std::string blas_core();

/// Whether several threads may be inside OpenBLAS at a time. A serial build has no locks, unless it
/// says that it was built with USE_LOCKING: two threads would get the same buffer, and both wrong
/// products.
bool blas_calls_may_overlap();

/// While it exists, the calling thread may call OpenBLAS, which runs on this thread only. Where
/// calls must not overlap, other threads wait.
class BlasScope {
 public:
  BlasScope();
  ~BlasScope();
  BlasScope(const BlasScope&) = delete;
  BlasScope& operator=(const BlasScope&) = delete;

 private:
  std::unique_lock<std::mutex> turn_;
  int openmp_threads_;  // the thread's setting before
};

/// False if OpenBLAS runs kernels for an older processor, with narrower vectors than those of tend.
bool blas_fits_processor();

/// BLAS counts with int. The sizes and strides that it gets stay well below that limit.
inline constexpr std::int64_t kBlasLimit = std::int64_t{1} << 30;

/// How BLAS can read a matrix: by rows, by columns, or not at all.
enum class BlasLayout { none, rows, columns };
template <class T>
BlasLayout blas_layout(const Matrix<T>& x);

/// One product of matrices that BLAS can read; it writes at most kBlasLimit rows and columns, and
/// more than one of them only by rows. BLAS runs on the calling thread only, since parallel_for
/// shares the work: its own number of threads is set to 1, for the whole process.
template <class T>
void multiply_blas(const MatrixProduct<T>& product);

}  // namespace tend::kernels
