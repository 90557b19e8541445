// Files that appear whole or not at all, and logs that grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace tend::nn {

/// Puts the next bytes of a file.
using PutBytes = std::function<void(const void* data, std::size_t bytes)>;
/// Puts bytes at a position of a file.
using PutBytesAt = std::function<void(std::uint64_t position, const void* data, std::size_t bytes)>;

/// Writes what fill(put) puts to the file at `path`, which appears whole or not at all.
///
/// fill(put) writes a temporary file, NAME.tend.tmp in the same folder. This is flushed to the
/// disk, gets the mode of the old file, and is renamed. On any failure the old file stays, and the
/// error of `fill` or an IoError that begins with [operation] is thrown. Links are followed: the
/// file that they lead to is written, whether it exists or not.
///
/// Several threads and processes may write one path. Each waits until the one before has ended (by
/// a lock on the temporary file, if the file system has locks), and the last one wins. What a
/// killed process left is overwritten by the next write to the same path.
///
/// A path that is not a regular file (a pipe, a terminal, a device) is opened and written as it is.
void write_file(const std::filesystem::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation = "write_file");
void write_file(const std::filesystem::path& path, std::string_view content,
                std::string_view operation = "write_file");

/// The same for a format that goes back in the file to fill in its headers. IoError for a path that
/// is not a regular file.
void write_file_at(const std::filesystem::path& path,
                   const std::function<void(const PutBytesAt&)>& fill, std::string_view operation);

/// Writes after the end of the file at `path`, and makes it if there is none. On failure (IoError)
/// the file is as long as before. It must have no other writer.
void append_file(const std::filesystem::path& path, std::string_view content,
                 std::string_view operation = "append_file");

/// IoError if write_file(path) is sure to fail: the path is a folder, its folder does not exist or
/// cannot be written. Nothing is opened or created.
void check_can_write(const std::filesystem::path& path);

/// Removes the temporary files that killed processes have left in a folder, if their names begin
/// with `start`.
void remove_leftovers(const std::filesystem::path& folder, std::string_view start);

}  // namespace tend::nn
