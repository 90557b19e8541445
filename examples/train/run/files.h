#pragma once

#include <string>

namespace train {

/// All bytes of a regular file, or of a pipe that somebody writes to. Throws std::runtime_error,
/// with the path and the reason, for anything else, a pipe that nobody opens for writing within
/// three seconds, and more than 2^30 bytes.
std::string read_file(const std::string& path);

/// Whether what is written to one of the paths would be found at the other. A device is no place
/// where anything is found again.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace train
