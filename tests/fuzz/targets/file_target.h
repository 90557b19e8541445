// What the fuzzed readers have in common.
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

/// A file in memory, and the path under which readers open it.
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

/// load(), whose input has `size` bytes, must return or throw an Error, and may not take more than
/// 64 MiB for tensors and 1032 (deflate's limit) times 8 (int8 to int64) the input's size.
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

/// The same for load(path) of a file with these bytes.
template <class Load>
int load_fuzzed(const std::uint8_t* data, std::size_t size, const Load& load) {
  static const MemoryFile file;
  file.write(text_of(data, size));
  return load_fuzzed(size, [&] { load(file.path()); });
}

}  // namespace tend::test
