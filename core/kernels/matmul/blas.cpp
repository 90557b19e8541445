#include <tend/core/kernels/matmul/blas.h>

#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <mutex>

// How OpenBLAS chooses its kernels when it is loaded. Builds for a single processor have neither.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace tend {
namespace {

constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

#if defined(__x86_64__)
// The compiler's test asks CPUID, and XCR0 whether the system saves the registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool has_avx2() {
  return false;
}
bool has_avx512() {
  return false;
}
#endif

// The OpenMP that the openmp flavour of OpenBLAS runs on, which takes its number of threads from
// the calling thread's setting; from version 0.3.29 on openblas_set_num_threads does not change
// that.
class OpenMP {
 public:
  void find() {
    if (openblas_get_parallel() != OPENBLAS_OPENMP) return;
    get_ = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    set_ = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  }
  int threads() const { return get_ != nullptr ? get_() : 1; }
  void set_threads(int count) const {
    if (set_ != nullptr) set_(count);
  }

 private:
  int (*get_)() = nullptr;
  void (*set_)(int) = nullptr;
};

// Set up by init_blas.
constinit OpenMP openmp;
constinit bool calls_may_overlap = true;

// Held inside a BLAS whose calls must not overlap.
constinit std::mutex the_only_call;

void choose_again(std::string_view core) {
  // OpenBLAS takes the core type from this variable, which is empty or not set here.
  const bool was_set = std::getenv(kCoreVariable) != nullptr;
  if (setenv(kCoreVariable, std::string(core).c_str(), 1) != 0) return;
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  was_set ? setenv(kCoreVariable, "", 1) : unsetenv(kCoreVariable);
}

}  // namespace

void detail::repair_blas() {
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
  if (!variable(kCoreVariable).empty() || variable("TEND_BLAS_REPAIR") == "0") return;
  const std::string_view core = better_blas_core(openblas_get_corename(), has_avx2(), has_avx512());
  if (!core.empty()) choose_again(core);
}

std::string_view detail::better_blas_core(std::string_view chosen, bool avx2,
                                          bool avx512) noexcept {
  // Core types of x86-64 by the widest instructions that their kernels use.
  constexpr std::array<std::string_view, 19> kBelowAvx2 = {
      "prescott",    "core2",     "penryn",     "dunnington",   "nehalem",
      "sandybridge", "atom",      "katmai",     "coppermine",   "northwood",
      "banias",      "athlon",    "opteron",    "opteron_sse3", "barcelona",
      "bobcat",      "bulldozer", "piledriver", "steamroller"};
  constexpr std::array<std::string_view, 3> kAvx2 = {"haswell", "zen", "excavator"};
  const auto is_one_of = [chosen](const auto& names) {
    return std::any_of(names.begin(), names.end(), [chosen](std::string_view name) {
      return std::equal(name.begin(), name.end(), chosen.begin(), chosen.end(),
                        [](char a, char b) { return a == std::tolower(b); });
    });
  };
  const bool low = is_one_of(kBelowAvx2);
  if (avx512 && (low || is_one_of(kAvx2))) return "SkylakeX";
  if (avx2 && low) return "Haswell";
  return {};
}

detail::BlasScope::BlasScope() {
  init_blas();
  if (!calls_may_overlap) the_only_call.lock();
  openmp_threads_ = openmp.threads();
  openmp.set_threads(1);
  thread_local bool told = false;
  if (told && openblas_get_num_threads() == 1) return;
  openblas_set_num_threads(1);
  told = true;
}

detail::BlasScope::~BlasScope() {
  openmp.set_threads(openmp_threads_);
  if (!calls_may_overlap) the_only_call.unlock();
}

bool detail::blas_calls_may_overlap() noexcept {
  return calls_may_overlap;
}

void init_blas() {
  static std::once_flag once;
  std::call_once(once, [] {
    openmp.find();
    calls_may_overlap =
        openblas_get_parallel() != OPENBLAS_SEQUENTIAL ||
        std::string_view(openblas_get_config()).find("USE_LOCKING") != std::string_view::npos;
    detail::repair_blas();
  });
}

std::string blas_config() {
  init_blas();
  return openblas_get_config();
}

std::string blas_core() {
  init_blas();
  return openblas_get_corename();
}

}  // namespace tend
