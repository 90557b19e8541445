// Tar archives that are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <tend/nn/archives/byte_reader.h>
#include <tend/nn/files/input_file.h>

namespace tend::nn {

/// An archive of regular files, as torch.save wrote it. Nothing of it is unpacked onto the disk.
/// Errors begin with [operation] and the path.
class TarReader {
 public:
  /// IoError for what is no tar archive: a header whose checksum or size is wrong, files that leave
  /// the archive, no end, or something behind it; for entries other than regular files (links,
  /// folders, sparse files, long names), and for names used twice.
  TarReader(const std::filesystem::path& path, std::string_view operation);

  /// The bytes of a file, which read while this lives; IoError for a name that is not here.
  ByteReader open(std::string_view name) const;

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t size;
  };
  // Reads the entry that begins at `at`, and moves it behind; false for the archive's end.
  bool read_entry(std::uint64_t& at);
  void check_end(std::uint64_t at) const;
  void check_attributes(const Range& range) const;

  InputFile file_;
  std::string_view operation_;
  std::string name_;
  std::map<std::string, Range, std::less<>> files_;
};

}  // namespace tend::nn
