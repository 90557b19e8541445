#include <tend/nn/archives/zip_writer.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>

#include <tend/core/base/error.h>

#include <zip.h>

namespace tend::nn {
namespace {

// Constants of the format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
constexpr std::size_t kLongestName = 0xffff;
// The local header of an entry of at least this size has 20 more bytes.
constexpr std::uint64_t kLargeEntry = 0xffffffff;
constexpr std::uint64_t kLocalHeader = 30;
constexpr zip_uint16_t kPaddingExtra = 0x4246;  // "FB"; readers skip an unknown field
constexpr zip_uint16_t kFirstDate = 0x21;       // 1980-01-01

constexpr std::uint64_t kAlign = 64;
constexpr zip_uint32_t kLevel = 6;  // zlib's default; libzip's is 9

// The file that libzip writes to. libzip seeks back to fill in the headers.
struct Output {
  const PutBytesAt& put;
  std::uint64_t at = 0, size = 0;
  zip_error_t error{};
  std::exception_ptr failure = nullptr;  // thrown by `put`; it must not pass through libzip
};

zip_int64_t write_some(Output& out, const void* data, zip_uint64_t bytes) {
  try {
    out.put(out.at, data, bytes);
  } catch (...) {
    out.failure = std::current_exception();
    zip_error_set(&out.error, ZIP_ER_WRITE, 0);
    return -1;
  }
  out.at += bytes;
  out.size = std::max(out.size, out.at);
  return static_cast<zip_int64_t>(bytes);
}

zip_int64_t seek(Output& out, void* data, zip_uint64_t bytes) {
  const zip_int64_t to = zip_source_seek_compute_offset(out.at, out.size, data, bytes, &out.error);
  if (to < 0) return -1;
  out.at = static_cast<std::uint64_t>(to);
  return 0;
}

// Answers libzip's calls. The archive is new, so libzip reads nothing.
zip_int64_t on_command(void* user, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
  Output& out = *static_cast<Output*>(user);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_STAT: zip_stat_init(static_cast<zip_stat_t*>(data)); return sizeof(zip_stat_t);
    case ZIP_SOURCE_WRITE: return write_some(out, data, bytes);
    case ZIP_SOURCE_SEEK_WRITE: return seek(out, data, bytes);
    case ZIP_SOURCE_TELL_WRITE: return static_cast<zip_int64_t>(out.at);
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&out.error, data, bytes);
    default: return 0;
  }
}

class Writer {
 public:
  Writer(const FileName& file, bool compressed, const PutBytesAt& put)
      : file_(file), compressed_(compressed), output_{put} {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const target = zip_source_function_create(on_command, &output_, &error);
    archive_.reset(target == nullptr
                       ? nullptr
                       : zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error));
    if (archive_ != nullptr) return;
    zip_source_free(target);
    file.refuse("cannot be written: ", zip_error_strerror(&error));
  }

  void add(const ZipEntry& entry) {
    // libzip does not report these errors.
    if (entry.name.size() > kLongestName || entry.name.find('\0') != std::string::npos)
      refuse_name(entry.name, "is too long, or has a zero byte");
    std::vector<zip_buffer_fragment_t> fragments;
    std::uint64_t size = 0;
    for (const std::string_view part : entry.parts) {
      auto* const data = const_cast<char*>(part.data());  // libzip only reads
      fragments.push_back({reinterpret_cast<zip_uint8_t*>(data), part.size()});
      size += part.size();
    }
    zip_source_t* const source =
        zip_source_buffer_fragment(archive_.get(), fragments.data(), fragments.size(), 0);
    if (source == nullptr) refuse();
    const zip_int64_t added =
        zip_file_add(archive_.get(), entry.name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) {
      zip_source_free(source);
      const int code = zip_error_code_zip(zip_get_error(archive_.get()));
      if (code == ZIP_ER_EXISTS) refuse_name(entry.name, "is used twice");
      if (code == ZIP_ER_INVAL) refuse_name(entry.name, "is not UTF-8, or has a control character");
      refuse();
    }
    const auto index = static_cast<zip_uint64_t>(added);
    check(zip_set_file_compression(archive_.get(), index,
                                   compressed_ ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
                                   compressed_ ? kLevel : 0));
    check(zip_file_set_dostime(archive_.get(), index, 0, kFirstDate, 0));
    if (!compressed_) align(index, entry.name.size(), size);
  }

  void finish() {
    if (zip_close(archive_.get()) != 0) {
      if (output_.failure) std::rethrow_exception(output_.failure);
      refuse();
    }
    static_cast<void>(archive_.release());  // zip_close has deleted it
  }

 private:
  struct Discard {
    void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
  };

  [[noreturn]] void refuse() const {
    file_.refuse("cannot be written: ", zip_error_strerror(zip_get_error(archive_.get())));
  }
  void check(int status) const {
    if (status != 0) refuse();
  }

  [[noreturn]] void refuse_name(const std::string& name, std::string_view why) const {
    file_.refuse("the name '", shown(name), "' ", why);
  }

  // Pads the entry's local header, so that the entry's bytes begin at a multiple of kAlign. libzip
  // writes the entries in order, each after its header.
  void align(zip_uint64_t index, std::size_t name_bytes, std::uint64_t size) {
    constexpr std::uint64_t kExtraHeader = 4;
    const std::uint64_t before =
        at_ + kLocalHeader + name_bytes + (size >= kLargeEntry ? 20 : 0) + kExtraHeader;
    const std::string padding((0 - before) % kAlign, 'Z');
    check(zip_file_extra_field_set(archive_.get(), index, kPaddingExtra, ZIP_EXTRA_FIELD_NEW,
                                   reinterpret_cast<const zip_uint8_t*>(padding.data()),
                                   static_cast<zip_uint16_t>(padding.size()), ZIP_FL_LOCAL));
    at_ = before + padding.size() + size;
  }

  const FileName& file_;
  bool compressed_;
  Output output_;
  std::unique_ptr<zip_t, Discard> archive_;
  std::uint64_t at_ = 0;  // where the next stored entry begins
};

}  // namespace

void put_zip(const FileName& file, const std::vector<ZipEntry>& entries, bool compressed,
             const PutBytesAt& put) {
  if (entries.empty()) {  // libzip does not write an empty archive
    const std::string end = std::string("PK\5\6") + std::string(18, '\0');
    return put(0, end.data(), end.size());
  }
  Writer archive(file, compressed, put);
  for (const ZipEntry& entry : entries) archive.add(entry);
  archive.finish();
}

}  // namespace tend::nn
