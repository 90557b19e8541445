/// \file
/// The OpenBLAS that matrix products call, and how tend sets it up.
#pragma once

#include <string>
#include <string_view>

namespace tend {

/// Initialises OpenBLAS, once; the first matrix product does it by itself.
///
/// Versions of OpenBLAS that do not know a processor take kernels for an older one: Debian's 0.3.21
/// and 0.3.29 run AVX2 code on processors of AMD's Zen 5 family, at half their speed. Where the
/// chosen core type is below what the processor (and the system, which must save the registers)
/// offers, OpenBLAS is told to choose again, with the right type. A type that the environment
/// variable OPENBLAS_CORETYPE names stays; TEND_BLAS_REPAIR=0 turns this off; builds of OpenBLAS
/// for one processor, and other architectures, are left alone.
///
/// While this runs no other thread may be inside OpenBLAS or change the environment: a program
/// whose own threads use either calls it before it starts them.
void init_blas();

/// The core type whose kernels OpenBLAS runs, "SkylakeX" for example.
std::string blas_core();

/// Version and build options of OpenBLAS, as it states them.
std::string blas_config();

namespace detail {

/// While it exists, the calling thread may call BLAS, which is initialised and runs on that thread
/// only, since parallel_for shares the work. Where calls of BLAS must not overlap, other threads
/// wait.
class BlasScope {
 public:
  BlasScope();
  ~BlasScope();
  BlasScope(const BlasScope&) = delete;
  BlasScope& operator=(const BlasScope&) = delete;

 private:
  int openmp_threads_;  // the thread's setting before
};

/// Whether several threads may be inside OpenBLAS at a time. A serial build has no locks, unless it
/// says that it was built with USE_LOCKING: it would give two threads the same buffer, and both
/// wrong products. BLAS must have been initialised.
bool blas_calls_may_overlap() noexcept;

/// The part of init_blas that lets OpenBLAS choose its core type again, where that is too low.
void repair_blas();

/// The core type that OpenBLAS should use instead of `chosen` on a processor that offers AVX2 with
/// FMA, or AVX-512 with the extensions of Skylake servers; empty if `chosen` is good enough, or is
/// not known here.
std::string_view better_blas_core(std::string_view chosen, bool avx2, bool avx512) noexcept;

}  // namespace detail
}  // namespace tend
