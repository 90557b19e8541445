// Files that are open for reading.
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
  /// Opens the file. It accepts regular files only, since a pipe or a device might never end.
  ///
  /// Throws: IoError - the path cannot be opened, or is not a regular file
  InputFile(std::filesystem::path path, std::string_view operation);

  /// The size in bytes that the file had when it was opened.
  std::uint64_t size() const noexcept { return size_; }
  /// Reads the next bytes.
  ///
  /// Throws: IoError - the file has fewer bytes, or cannot be read
  void read(void* to, std::uint64_t bytes);
  /// Reads the bytes from `position` on. Any thread may call it.
  ///
  /// Throws: IoError - the file has fewer bytes, or cannot be read
  void read_at(std::uint64_t position, void* to, std::uint64_t bytes) const;

  /// The descriptor, for libraries that read the file themselves.
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
