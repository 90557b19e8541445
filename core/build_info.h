/// \file
/// What the speed of a program depends on.
#pragma once

#include <iosfwd>
#include <string>

namespace tend {

/// The parts that this process runs with.
struct BuildInfo {
  std::string version;      ///< of tend
  std::string compiler;     ///< that built it
  std::string blas;         ///< version and build options of OpenBLAS, as it states them
  std::string blas_core;    ///< the core type whose kernels OpenBLAS runs
  std::string simd_target;  ///< the instructions of tend's own kernels, as Highway calls them
  std::string matmul_path;  ///< what computes matrix products on this thread, see MatmulPath; and
                            ///< if `automatic` does not use OpenBLAS here, the reason
  int threads;              ///< that tend may use; see set_num_threads()
  std::string text;         ///< what tend::text was built with, or "not built"
  std::string archives;     ///< the same for tend::archives
  std::string distributed;  ///< the same for tend::distributed
};

BuildInfo build_info();

/// One "name: value" a line.
std::ostream& operator<<(std::ostream& out, const BuildInfo& info);

}  // namespace tend
