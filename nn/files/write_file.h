// Files that appear whole or not at all, and logs that grow.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <tend/core/base/function_ref.h>

namespace tend::nn {

/// Takes the next bytes of a file.
using PutBytes = std::function<void(const void* data, std::size_t bytes)>;

/// Writes what fill(put) puts to the file at `path`. Links are followed; the file that they lead to
/// is written, whether it exists or not.
///
/// A regular file, and one that does not exist yet, appears whole or not at all: fill(put) writes a
/// temporary file beside it, which is flushed to the disk, gets the mode of the old file (and its
/// owner, where the system permits that) and is renamed. On any failure the temporary file is
/// removed, the old file stays, and an IoError (or what `fill` threw) tells why. Several threads
/// and processes may write one path: each result is whole, and the last rename wins. What a killed
/// process left beside the file (NAME.tend-PID-COUNT.tmp) is removed by the next write to it; a
/// process keeps its temporary files locked (flock), so those of running processes are left alone.
///
/// A device, a pipe and this process's own standard output or standard error are written into
/// directly. IoError for a pipe that nobody opens for reading within three seconds, and for one
/// that is closed before its end (no SIGPIPE is raised). Errors begin with [operation].
void write_file(const std::filesystem::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation = "write_file");
void write_file(const std::filesystem::path& path, std::string_view content,
                std::string_view operation = "write_file");

/// Writes behind the end of the file at `path`, and makes it where there is none. IoError where
/// that fails; a regular file, which must have no other writer, is as long as before then; a pipe
/// or device may have got a part.
void append_file(const std::filesystem::path& path, std::string_view content,
                 std::string_view operation = "append_file");

/// IoError where write_file(path) is sure to fail: the path is a folder, its folder does not exist
/// or cannot be written. Nothing is opened or created.
void check_can_write(const std::filesystem::path& path);

/// Removes what killed processes have left beside files of this folder whose names begin so.
void remove_leftovers(const std::filesystem::path& folder, std::string_view start);

/// f(name) for each entry of a folder, in no order. Returns 0, or the errno that kept it from
/// reading them all. Unlike std::filesystem::directory_iterator it does not end the process where
/// memory is refused.
int for_each_name(const std::filesystem::path& folder, FunctionRef<void(const std::string&)> f);

/// The path with links followed, the last one also where it leads to nothing. IoError for links
/// that go round in circles.
std::filesystem::path follow_links(const std::filesystem::path& path);

}  // namespace tend::nn
