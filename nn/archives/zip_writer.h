// Zip archives that are written, by libzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tend/nn/files/file_name.h>

struct zip;

namespace tend::nn {

/// A new archive at a path. Its bytes depend on the entries alone, not on the time.
class ZipWriter {
 public:
  struct Options {
    bool compressed = false;  ///< deflated, not stored
    std::uint64_t align = 1;  ///< of the bytes of stored entries in the file, 1 to 64
  };

  /// Errors name `file`, whatever the path.
  ZipWriter(const FileName& file, const std::filesystem::path& path, const Options& options);

  /// Adds an entry of these bytes, one part after the other. The parts must live until finish().
  ///
  /// Throws:
  ///   IoError  - the name is used twice, is not UTF-8, or is longer than 65535 bytes
  void add(const std::string& name, std::span<const std::string_view> parts);
  /// Writes the file.
  ///
  /// Throws:
  ///   IoError  - the file cannot be written
  void finish();

 private:
  struct Discard {
    void operator()(zip* archive) const noexcept;
  };
  void align(std::uint64_t entry, const std::string& name, std::uint64_t size);
  [[noreturn]] void refuse_error() const;

  FileName file_;
  Options options_;
  std::unique_ptr<zip, Discard> archive_;
  std::uint64_t next_ = 0;  // where the next stored entry begins in the file
};

}  // namespace tend::nn
