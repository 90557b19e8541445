// What the fuzzed readers have in common.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

namespace tend::test {

/// load(path) of a file with these bytes, which must return or throw an Error, and may not take
/// more than 64 MiB for tensors and 1032 (deflate's limit) times 8 (int8 to int64) the file's size.
template <class Load>
int load_fuzzed(const std::uint8_t* data, std::size_t size, const Load& load) {
  static const int file = ::memfd_create("fuzzed", MFD_CLOEXEC);
  static const std::filesystem::path path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<::ssize_t>(size)) {
    std::abort();
  }
  const std::int64_t live = live_memory();
  reset_peak_memory();
  try {
    load(path);
  } catch (const Error&) {
  }
  const std::int64_t most = (std::int64_t{64} << 20) + static_cast<std::int64_t>(size) * 1032 * 8;
  if (peak_memory() - live > most) std::abort();
  return 0;
}

}  // namespace tend::test
