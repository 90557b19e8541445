// Zip archives that are read.
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

/// An archive that is open for reading. Nothing that it says of itself is trusted. Errors begin
/// with [operation] and the path.
class ZipReader {
  struct Packing {
    std::uint64_t size;  // of the bytes that come out
    bool is_stored;      // not deflated
  };

 public:
  /// The bytes of one entry, from the front to the end.
  class Entry {
   public:
    std::uint64_t size() const noexcept { return packing_.size; }
    /// Whether all of them have been read.
    bool is_read() const noexcept { return read_ >= packing_.size; }
    /// IoError when there are fewer bytes, or they cannot be unpacked.
    void read(void* to, std::uint64_t bytes);
    /// After the last byte; IoError when the entry goes on, or its checksum is another.
    void finish();
    /// After a read, and before any other entry is opened or read: where this entry's bytes begin
    /// in the file. Nothing where it is deflated, or does not lie within the file.
    std::optional<std::uint64_t> place() const noexcept;

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

  /// IoError for what is no archive, for names used twice, for methods other than stored and
  /// deflated, for encrypted entries, and for sizes that cannot be: entries that take more than the
  /// file in sum (they would overlap), or would unpack to more than deflate can pack.
  ZipReader(const std::filesystem::path& path, std::string_view operation);

  const InputFile& file() const noexcept { return file_; }
  /// In the order of the archive's directory.
  const std::vector<std::string>& names() const noexcept { return names_; }
  bool contains(std::string_view name) const { return numbers_.contains(name); }
  /// IoError for a name that is not here.
  Entry open(std::string_view name) const;
  /// The whole entry, of at most `limit` bytes.
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
  zip_source* source_ = nullptr;  // of the file, which the archive owns
  std::vector<std::string> names_;
  std::vector<Packing> packings_;
  std::unordered_map<std::string_view, std::size_t> numbers_;  // views of names_
};

}  // namespace tend::nn
