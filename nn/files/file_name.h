// The names of files in errors, and their text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <tend/core/base/error.h>

namespace tend::nn {

/// A file, for errors: "[operation] path: parts...". The operation and the path must outlive it.
struct FileName {
  std::string_view operation;
  const std::filesystem::path& path;

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation, path.string(), ": ", parts...);
  }
};

/// The whole content of a regular file.
///
/// Throws: IoError - the file cannot be read, or is not a regular file
std::string read_text(const FileName& file);

/// A text from a file in a form for messages: at most 200 bytes, with control characters as \xNN.
std::string shown(std::string_view text);

}  // namespace tend::nn
