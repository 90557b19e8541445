#pragma once

#include <string>
#include <string_view>

namespace train {

// Whole files; each throws std::runtime_error with the path and the system's reason.

std::string read_file(const std::string& path);

/// Writes beside the file and renames, so that an old file is replaced by a complete one or stays.
void write_file(const std::string& path, std::string_view content);

/// Finds out before hours of training whether a file could be written after them.
void check_can_write(const std::string& path);

}  // namespace train
