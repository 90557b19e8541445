// Files that appear whole or not at all, and logs that grow.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>

namespace tend::nn {

/// Writes the next bytes of a file.
using PutBytes = std::function<void(const void* data, std::size_t bytes)>;

/// Writes what fill(put) puts to the file at `path`, which appears whole or not at all: a temporary
/// file beside it is filled, flushed to the disk and renamed. The new file keeps the old one's
/// mode. Several threads and processes may write one path; each result is whole, and the last
/// rename wins.
///
/// The temporary file is removed on failure. One that a killed process of this machine left
/// (NAME.tend-HOST-PID-COUNT.tmp) is removed by the next write to the same path. A path that is not
/// a regular file, such as /dev/stdout, is written as a plain stream.
///
/// Throws, with the text "[operation] cannot write path: reason":
///   IoError  - the file cannot be written
///   whatever fill throws
void write_file(const std::filesystem::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation = "write_file");
void write_file(const std::filesystem::path& path, std::string_view content,
                std::string_view operation = "write_file");

/// The same for a library that writes a file by itself: make(temporary) writes the file at the path
/// `temporary`.
///
/// Throws:
///   IoError  - the file cannot be written, or the path is not a regular file
///   whatever make throws
void replace_file(const std::filesystem::path& path,
                  const std::function<void(const std::filesystem::path& temporary)>& make,
                  std::string_view operation);

/// Appends to the file at `path`, or creates it. The file must have no other writer.
///
/// Throws:
///   IoError  - the content cannot be written; the file then has its old length
void append_file(const std::filesystem::path& path, std::string_view content,
                 std::string_view operation = "append_file");

/// Checks a path before work begins. Nothing is created.
///
/// Throws:
///   IoError  - write_file(path) is sure to fail: the path is a folder, or its folder does not
///   exist
///              or cannot be written
void check_can_write(const std::filesystem::path& path);

/// Removes temporary files that killed processes of this machine left in a folder, for files whose
/// names begin with `start`.
void remove_leftovers(const std::filesystem::path& folder, std::string_view start);

}  // namespace tend::nn
