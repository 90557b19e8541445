#include "peers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace compare {
namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

/// True if this CPU can run OpenBLAS's fastest kernels. OpenBLAS does not choose them by itself on
/// CPUs that it does not know.
bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// All settings that may make libtorch faster: OpenBLAS's kernels, and the numbers of threads.
std::vector<Options> torch_settings(int threads) {
  std::vector<Options> all;
  for (const bool repaired : {true, false}) {
    if (repaired && !has_avx512()) continue;
    for (const int blas : {1, threads}) {
      for (const int loops : {1, threads}) {
        Options options;
        if (repaired) options.emplace_back(kCoreType, "SkylakeX");
        options.emplace_back("OPENBLAS_NUM_THREADS", std::to_string(blas));
        options.emplace_back("OMP_NUM_THREADS", std::to_string(loops));
        if (std::find(all.begin(), all.end(), options) == all.end()) all.push_back(options);
      }
    }
  }
  return all;
}

}  // namespace

std::vector<Options> torch_thread_settings(int threads) {
  std::vector<Options> all;
  for (const int count : {1, threads}) {
    Options options;
    if (has_avx512()) options.emplace_back(kCoreType, "SkylakeX");
    for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"})
      options.emplace_back(name, std::to_string(count));
    if (std::find(all.begin(), all.end(), options) == all.end()) all.push_back(options);
  }
  return all;
}

std::string describe(const Options& options) {
  if (options.empty()) return "as installed";
  std::string text;
  for (const auto& [name, value] : options) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

std::vector<Peer> find_peers(const std::string& folder, const std::string& tend, int threads) {
  const auto path = [&folder](const char* name) { return folder + "/" + name; };
  const std::vector<Options> as_installed{{}};
  std::vector<Peer> wanted{
      {"tend", tend.empty() ? path("tend") : tend, Role::subject, as_installed},
      {"libtorch", path("torch"), Role::peer, torch_settings(threads)},
      {"libtorch as installed", path("torch"), Role::peer, as_installed},
      {"ONNX Runtime", path("onnxruntime"), Role::peer, as_installed},
      {"oneDNN", path("onednn"), Role::peer, as_installed, true},
      {"Eigen", path("eigen"), Role::peer, as_installed, true},
      {"OpenBLAS", path("openblas"), Role::peer, as_installed, true},
      {"machine", path("machine"), Role::limit, as_installed},
  };
  if (has_avx512()) {
    wanted.push_back(
        {"OpenBLAS repaired", path("openblas"), Role::limit, {{{kCoreType, "SkylakeX"}}}, true});
  }
  std::erase_if(wanted, [](const Peer& peer) {
    return peer.role != Role::subject && access(peer.program.c_str(), X_OK) != 0;
  });
  return wanted;
}

std::vector<std::string> environment(const Options& options) {
  constexpr std::array<std::string_view, 15> kPrefixes{
      "TEND_", "OPENBLAS_", "GOTO_", "OMP_", "GOMP_",   "KMP_",           "MKL_",   "DNNL_",
      "ATEN_", "ONEDNN_",   "ORT_",  "C10_", "PYTORCH", "GLIBC_TUNABLES", "MALLOC_"};
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool is_setting = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                        [&](std::string_view p) { return text.starts_with(p); });
    if (!is_setting) all.emplace_back(text);
  }
  for (const auto& [name, value] : options) all.push_back(name + "=" + value);
  return all;
}

}  // namespace compare
