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

/// Writes a file at `path`, which appears whole or not at all. fill(put) gives the bytes to `put`.
///
/// fill(put) writes a temporary file, NAME.tend.tmp in the same folder. This file is flushed to the
/// disk, gets the mode of the old file, and is renamed. On any failure the old file stays, and the
/// error of `fill` or an IoError that begins with [operation] is thrown. Links are followed: the
/// target of a link is written, even if the target does not exist yet.
///
/// Several threads and processes may write one path. Each writer waits until the previous writer
/// has ended, and the last writer wins. For this, the temporary file is locked, if the file system
/// has locks. If a process is killed, the next write to the path overwrites the temporary file.
///
/// A path that is not a regular file (a pipe, a terminal, a device) is opened and written as it is.
void write_file(const std::filesystem::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation = "write_file");
void write_file(const std::filesystem::path& path, std::string_view content,
                std::string_view operation = "write_file");

/// Works as write_file(), but `put` also gets a position. For formats whose headers are written
/// after the content.
///
/// Throws: IoError - as write_file(), or the path is not a regular file
void write_file_at(const std::filesystem::path& path,
                   const std::function<void(const PutBytesAt&)>& fill, std::string_view operation);

/// Appends to the file at `path`, or makes the file if there is none.
///
/// On failure the file is as long as before. No other writer may use the file.
///
/// Throws: IoError - the file cannot be written
void append_file(const std::filesystem::path& path, std::string_view content,
                 std::string_view operation = "append_file");

/// Checks that write_file(path) can succeed, without opening or creating a file.
///
/// Throws: IoError - the path is a folder, or its folder does not exist or cannot be written
void check_can_write(const std::filesystem::path& path);

/// Removes the temporary files that killed processes have left in a folder, if their names begin
/// with `start`.
void remove_leftovers(const std::filesystem::path& folder, std::string_view start);

}  // namespace tend::nn
