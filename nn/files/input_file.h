// Files that are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <tend/core/base/error.h>
#include <tend/nn/files/descriptor.h>

namespace tend::nn {

/// A regular file that is open for reading. Errors begin with [operation] and the path.
class InputFile {
 public:
  /// IoError when the path cannot be opened, and for all but regular files: a pipe or a device
  /// might never end.
  InputFile(std::filesystem::path path, std::string_view operation);

  /// Size in bytes when the file was opened.
  std::uint64_t size() const noexcept { return size_; }
  /// Reads the next bytes; IoError when there are fewer.
  void read(void* to, std::uint64_t bytes);
  /// Reads the bytes from `position` on, on any thread; IoError when there are fewer.
  void read_at(std::uint64_t position, void* to, std::uint64_t bytes) const;

  /// For libraries that read by themselves.
  int descriptor() const noexcept { return file_.get(); }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation_, path_.string(), ": ", parts...);
  }

 private:
  std::filesystem::path path_;
  std::string_view operation_;
  Descriptor file_;
  std::uint64_t size_ = 0, next_ = 0;
};

}  // namespace tend::nn
