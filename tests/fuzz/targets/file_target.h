// Helpers for all fuzz targets.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

namespace tend::test {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory, with a path that readers can open.
class MemoryFile {
 public:
  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view content) const {
    if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, content.data(), content.size(), 0) !=
                                          static_cast<::ssize_t>(content.size())) {
      std::abort();
    }
  }

 private:
  int file_ = ::memfd_create("fuzzed", MFD_CLOEXEC);
  std::filesystem::path path_ = "/proc/self/fd/" + std::to_string(file_);
};

/// Calls load() and aborts if it behaves wrongly. load() reads an input of `size` bytes.
///
/// load() must return or throw an Error. Its tensors may use at most 64 MiB plus `size` * 1032 * 8
/// bytes: deflate expands data at most 1032 times, and a conversion from int8 to int64 8 times.
template <class Load>
int load_fuzzed(std::size_t size, const Load& load) {
  const std::int64_t live = live_memory();
  reset_peak_memory();
  try {
    load();
  } catch (const Error&) {
  }
  const std::int64_t most = (std::int64_t{64} << 20) + static_cast<std::int64_t>(size) * 1032 * 8;
  if (peak_memory() - live > most) std::abort();
  return 0;
}

/// Calls load(path) for a file with these bytes, and aborts if it behaves wrongly (see above).
template <class Load>
int load_fuzzed(const std::uint8_t* data, std::size_t size, const Load& load) {
  static const MemoryFile file;
  file.write(text_of(data, size));
  return load_fuzzed(size, [&] { load(file.path()); });
}

}  // namespace tend::test
