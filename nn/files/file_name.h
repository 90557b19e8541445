// Files as errors name them, and what they hold.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tend/core/base/error.h>

namespace tend::nn {

/// The file that errors speak of: "[operation] path: parts...". Operation and path must outlive it.
struct FileName {
  std::string_view operation;
  const std::filesystem::path& path;

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation, path.string(), ": ", parts...);
  }
};

/// IoError where the name has a zero byte: a system call would take what is before it for the
/// whole.
inline void check_name(const FileName& file) {
  if (file.path.native().find('\0') == std::string::npos) return;
  fail<IoError>(file.operation, file.path.c_str(), ": its name goes on after a zero byte");
}

/// IoError for a name that is there twice.
void check_unique(const FileName& file, std::vector<std::string_view> names);

/// The whole content of a regular file; IoError when it cannot be read.
std::string read_text(const FileName& file);

/// Text of a file, cut to a length that a message can have, its control characters as \xNN.
std::string shown(std::string_view text);

}  // namespace tend::nn
