// Reads zip archives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tend/nn/files/input_file.h>

struct zip;
struct zip_file;
struct zip_source;

namespace tend::nn {

/// A zip archive that is open for reading. It trusts no size and no checksum in the archive.
/// Errors begin with [operation] and the path.
class ZipReader {
  struct Packing {
    std::uint64_t size;  // the unpacked size in bytes
    bool is_stored;      // false if it is deflated
  };

 public:
  /// Reads the bytes of one entry, from the first to the last.
  class Entry {
   public:
    std::uint64_t size() const noexcept { return packing_.size; }
    /// True if all bytes have been read.
    bool is_read() const noexcept { return read_ >= packing_.size; }
    /// Reads the next `bytes` bytes.
    ///
    /// Throws: IoError - fewer bytes are left, or they cannot be unpacked
    void read(void* to, std::uint64_t bytes);
    /// Checks the end of the entry. Call it after the last byte was read.
    ///
    /// Throws: IoError - more bytes follow, or the checksum differs
    void finish();
    /// Returns the position in the file at which this entry's bytes begin. Returns nullopt if the
    /// entry is deflated, or not within the file.
    ///
    /// Call it after a read, before any other entry is opened or read.
    std::optional<std::uint64_t> position() const noexcept;

   private:
    friend class ZipReader;
    struct Close {
      void operator()(zip_file* file) const noexcept;
    };
    Entry(const ZipReader& archive, std::string_view name, zip_file* file, Packing packing)
        : archive_(archive), name_(name), file_(file), packing_(packing) {}
    std::uint64_t read_some(void* to, std::uint64_t bytes);

    const ZipReader& archive_;
    std::string name_;
    std::unique_ptr<zip_file, Close> file_;
    Packing packing_;
    std::uint64_t read_ = 0;
  };

  /// Opens an archive and reads its directory.
  ///
  /// Throws:
  ///   IoError - the file is not a zip archive
  ///   IoError - a name is used twice
  ///   IoError - an entry is encrypted, or neither stored nor deflated
  ///   IoError - the entries together are larger than the file, so that they would overlap
  ///   IoError - the unpacked size of an entry is impossible for its packed size
  ZipReader(const std::filesystem::path& path, std::string_view operation);

  const InputFile& file() const noexcept { return file_; }
  /// The names of the entries, in the order of the archive's directory.
  const std::vector<std::string>& names() const noexcept { return names_; }
  bool contains(std::string_view name) const { return numbers_.contains(name); }
  /// Opens an entry.
  ///
  /// Throws: IoError - the archive does not have the name, or the entry cannot be opened
  Entry open(std::string_view name) const;
  /// Reads a whole entry.
  ///
  /// Throws: IoError - the entry has more than `limit` bytes, or cannot be read
  std::string read_all(std::string_view name, std::uint64_t limit) const;

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(parts...);
  }

 private:
  struct Discard {
    void operator()(zip* archive) const noexcept;
  };
  void open_archive();
  void read_directory();

  InputFile file_;
  std::unique_ptr<zip, Discard> archive_;
  zip_source* source_ = nullptr;  // reads the file; the archive owns it
  std::vector<std::string> names_;
  std::vector<Packing> packings_;
  std::unordered_map<std::string_view, std::size_t> numbers_;  // index by name; keys view names_
};

}  // namespace tend::nn
