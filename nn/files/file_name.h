// Files as errors name them, and what they hold.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

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

/// The whole content of a regular file; IoError when it cannot be read.
std::string read_text(const FileName& file);

/// Text of a file, cut to a length that a message can have, its control characters as \xNN.
std::string shown(std::string_view text);

}  // namespace tend::nn
