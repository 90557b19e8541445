// Writes zip archives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tend/nn/files/file_name.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {

/// An entry to be written. Its bytes are the parts, one after the other.
struct ZipEntry {
  std::string name;
  std::vector<std::string_view> parts;
};

/// Writes an archive of these entries with `put`. The entries are deflated if `compressed` is true.
///
/// The bytes of stored entries begin at multiples of 64, so that they can be mapped. The same
/// entries always give the same archive: its dates are fixed.
///
/// Throws:
///   IoError - a name is used twice, is longer than 65535 bytes, has a zero byte or is not UTF-8
///   IoError - a name has a control character, and libzip is old
void put_zip(const FileName& file, const std::vector<ZipEntry>& entries, bool compressed,
             const PutBytesAt& put);

}  // namespace tend::nn
