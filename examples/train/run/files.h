#pragma once

#include <string>

namespace train {

/// All bytes of a regular file, or of a pipe that somebody writes to. Throws std::runtime_error,
/// with the path and the reason, for anything else, a pipe that nobody opens for writing within
/// three seconds, and more than 2^30 bytes.
std::string read_file(const std::string& path);

}  // namespace train
