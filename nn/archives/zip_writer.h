// Zip archives that are written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include <tend/nn/files/write_file.h>

namespace tend::nn {

/// Puts an archive from its first byte to its last, so that write_file can write it; libzip's own
/// writer needs a file that it can go back in, and places entries where it likes. Large files and
/// entries are written as ZIP64.
class ZipWriter {
 public:
  struct Options {
    bool compressed = false;  // deflated, not stored
    std::uint64_t align = 1;  // of the bytes of stored entries, a power of two of at most 32768
  };

  /// `put` must live as long.
  ZipWriter(const PutBytes& put, const Options& options) : put_(put), options_(options) {}

  /// An entry of these bytes, one part after the other. The name must be UTF-8 without control
  /// characters, of at most 65535 bytes, and be new (the caller checks that, see
  /// check_entry_name).
  void add(const std::string& name, std::span<const std::string_view> parts);
  /// After the last entry: the directory.
  void finish();

 private:
  struct Sizes {
    std::uint32_t checksum = 0;
    std::uint64_t size = 0;
    std::uint64_t packed = 0;
  };
  void put_text(std::string_view text);
  void put_local_header(const std::string& name, const Sizes& sizes);
  void add_to_directory(const std::string& name, const Sizes& sizes, std::uint64_t begin);

  const PutBytes& put_;
  Options options_;
  std::uint64_t at_ = 0;
  std::uint64_t count_ = 0;
  std::string directory_;
};

/// IoError, beginning with [operation] path, for a name that no entry can have or that is in
/// `names` already, to which it is added.
void check_entry_name(std::string_view operation, const std::filesystem::path& path,
                      const std::string& name, std::unordered_set<std::string>& names);

/// Whether the text is UTF-8.
bool is_utf8(const std::string& text);

}  // namespace tend::nn
