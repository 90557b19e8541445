// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

namespace tend::nn {

/// Takes the next bytes of a file.
using PutBytes = std::function<void(const void* data, std::size_t bytes)>;

/// Calls fill(put) for a temporary file beside `path`, flushes it to the disk and renames it to
/// `path`. On any failure the temporary file is removed, a file that stood at `path` stays, and an
/// IoError (or what `fill` threw) tells why.
void write_file(const std::filesystem::path& path,
                const std::function<void(const PutBytes&)>& fill);

}  // namespace tend::nn
