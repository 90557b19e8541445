/// \file
/// The versions and settings that the speed of a program depends on.
#pragma once

#include <iosfwd>
#include <string>

namespace tend {

/// The versions and settings that this process runs with.
struct BuildInfo {
  std::string version;      ///< the version of tend
  std::string compiler;     ///< the compiler that built tend
  std::string blas;         ///< OpenBLAS's version and build options, as it reports them
  std::string blas_core;    ///< the core type whose kernels OpenBLAS runs
  std::string simd_target;  ///< the instruction set of tend's own kernels, as Highway names it
  std::string matmul_path;  ///< what computes matrix products on this thread, see MatmulPath; and
                            ///< the reason, if `automatic` does not use OpenBLAS here
  int threads;              ///< the number of threads tend may use; see set_num_threads()
  std::string text;         ///< the library that tend::text was built with, or "not built"
  std::string archives;     ///< the library that tend::archives was built with, or "not built"
  std::string distributed;  ///< the library that tend::distributed was built with, or "not built"
};

/// Reports what this process runs with.
BuildInfo build_info();

/// Writes one line "name: value" for each member.
std::ostream& operator<<(std::ostream& out, const BuildInfo& info);

}  // namespace tend
