#include <tend/core/build_info.h>

#include <ostream>

#include <tend/core/kernels/matmul/blas.h>
#include <tend/core/kernels/matmul/matmul_path.h>
#include <tend/core/kernels/simd/simd_target.h>
#include <tend/core/threads/parallel.h>

namespace tend {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

BuildInfo build_info() {
  return {TEND_VERSION,           kCompiler,
          blas_config(),          blas_core(),
          kernels::simd_target(), std::string(matmul_path_name(matmul_path())),
          num_threads(),          TEND_TEXT_VERSION,
          TEND_ARCHIVES_VERSION,  TEND_DISTRIBUTED_VERSION};
}

std::ostream& operator<<(std::ostream& out, const BuildInfo& info) {
  return out << "tend: " << info.version << "\ncompiler: " << info.compiler
             << "\nblas: " << info.blas << "\nblas core: " << info.blas_core
             << "\nsimd: " << info.simd_target << "\nmatmul path: " << info.matmul_path
             << "\nthreads: " << info.threads << "\ntext: " << info.text
             << "\narchives: " << info.archives << "\ndistributed: " << info.distributed << '\n';
}

}  // namespace tend
