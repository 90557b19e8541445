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

std::string path_of_products() {
  const std::string path(matmul_path_name(matmul_path()));
  if (matmul_path() != MatmulPath::automatic) return path;
  if (!kernels::blas_calls_may_overlap()) return path + ", tiles only: OpenBLAS is serial";
  if (kernels::blas_fits_processor()) return path;
  return path + ", tiles except for single columns: OpenBLAS runs kernels for an older processor";
}

}  // namespace

BuildInfo build_info() {
  return {.version = TEND_VERSION,
          .compiler = kCompiler,
          .blas = kernels::blas_config(),
          .blas_core = kernels::blas_core(),
          .simd_target = kernels::simd_target(),
          .matmul_path = path_of_products(),
          .threads = num_threads(),
          .text = TEND_TEXT_VERSION,
          .archives = TEND_ARCHIVES_VERSION,
          .distributed = TEND_DISTRIBUTED_VERSION};
}

std::ostream& operator<<(std::ostream& out, const BuildInfo& info) {
  return out << "tend: " << info.version << "\ncompiler: " << info.compiler
             << "\nblas: " << info.blas << "\nblas core: " << info.blas_core
             << "\nsimd: " << info.simd_target << "\nmatmul path: " << info.matmul_path
             << "\nthreads: " << info.threads << "\ntext: " << info.text
             << "\narchives: " << info.archives << "\ndistributed: " << info.distributed << '\n';
}

}  // namespace tend
