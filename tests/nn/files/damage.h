// Damaged files, which a reader must read or refuse.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

#include "tests/catch.h"

namespace tend::test {

/// A temporary folder, which the destructor removes.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("tend-files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_content(const std::filesystem::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  REQUIRE(file.write(content.data(), static_cast<std::streamsize>(content.size())).flush());
}

/// Calls load(path) for every truncation of a file, and for the file with each of its first `head`
/// bytes changed in several ways. Returns the number of damaged files that were refused.
///
/// Checks that truncated files are refused with an IoError, that other files are read or refused,
/// and that no call allocates more than `memory` bytes.
template <class Load>
std::size_t load_damaged(const std::string& content, std::size_t head, std::int64_t memory,
                         const Load& load) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "damaged";
  const std::int64_t live = live_memory();
  reset_peak_memory();
  const auto is_refused = [&](const std::string& damaged) {
    // Makes a new file each time, since ext4 waits for the disk if a file is emptied and rewritten.
    std::filesystem::remove(path);
    write_content(path, damaged);
    try {
      load(path);
      return false;
    } catch (const IoError& error) {
      if (std::string(error.what()).find(path.string()) == std::string::npos)
        FAIL_CHECK("no path: " << error.what());
      return true;
    }
  };
  std::size_t refused = 0;
  for (std::size_t length = 0; length < content.size(); ++length) {
    INFO("the first " << length << " bytes");
    const bool is = is_refused(content.substr(0, length));
    CHECK(is);
    refused += is;
  }
  for (std::size_t at = 0; at < std::min(head, content.size()); ++at) {
    const auto old = static_cast<unsigned char>(content[at]);
    for (const unsigned changed : {old ^ 1u, old ^ 0x80u, old + 1u, old - 1u, 0u, 0xffu}) {
      INFO("byte " << at << " is " << (changed & 0xffu) << ", was " << unsigned{old});
      std::string damaged = content;
      damaged[at] = static_cast<char>(changed);
      refused += is_refused(damaged);
    }
  }
  CHECK(peak_memory() - live <= memory);
  return refused;
}

}  // namespace tend::test
