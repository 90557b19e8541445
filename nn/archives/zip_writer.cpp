#include <tend/nn/archives/zip_writer.h>

#include <limits>
#include <vector>

#include <zip.h>

namespace tend::nn {
namespace {

// Numbers of the format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
constexpr std::uint64_t kLocalHeader = 30, kExtraHeader = 4;
constexpr std::uint64_t kZip64Extra = 20;        // which entries from 4 GiB on have
constexpr std::uint16_t kPaddingExtra = 0x4246;  // "FB", which readers do not know and skip
constexpr std::uint16_t kFirstDate = 0x21;       // 1980-01-01

}  // namespace

void ZipWriter::Discard::operator()(zip* archive) const noexcept {
  zip_discard(archive);
}

ZipWriter::ZipWriter(const FileName& file, const std::filesystem::path& path,
                     const Options& options)
    : file_(file), options_(options) {
  int error = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (archive_ == nullptr) file_.refuse("cannot be written: zip error ", error);
}

void ZipWriter::refuse_error() const {
  file_.refuse("cannot be written: ", zip_strerror(archive_.get()));
}

void ZipWriter::add(const std::string& name, std::span<const std::string_view> parts) {
  if (name.size() > std::numeric_limits<std::uint16_t>::max() ||
      name.find('\0') != std::string::npos)
    file_.refuse("the name '", shown(name), "' is too long or has a zero byte");
  std::vector<zip_buffer_fragment_t> fragments;
  std::uint64_t size = 0;
  for (const std::string_view part : parts) {
    size += part.size();
    if (part.empty()) continue;
    // libzip reads them.
    auto* bytes = reinterpret_cast<zip_uint8_t*>(const_cast<char*>(part.data()));
    fragments.push_back({bytes, part.size()});
  }
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source =
      zip_source_buffer_fragment_create(fragments.data(), fragments.size(), 0, &error);
  if (source == nullptr) fail_memory("zip");
  const zip_int64_t added = zip_file_add(archive_.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (added < 0) {
    zip_source_free(source);
    if (zip_error_code_zip(zip_get_error(archive_.get())) == ZIP_ER_EXISTS)
      file_.refuse("the name '", shown(name), "' is used twice");
    file_.refuse("the name '", shown(name), "' is not UTF-8");
  }
  const auto entry = static_cast<std::uint64_t>(added);
  const zip_int32_t method = options_.compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
  if (zip_set_file_compression(archive_.get(), entry, method, 0) != 0 ||
      zip_file_set_dostime(archive_.get(), entry, 0, kFirstDate, 0) != 0)
    refuse_error();
  if (!options_.compressed && options_.align > 1) align(entry, name, size);
}

// Pads the entry's header so that its bytes begin at a multiple of options_.align.
void ZipWriter::align(std::uint64_t entry, const std::string& name, std::uint64_t size) {
  const bool is_large = size >= std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t begin =
      next_ + kLocalHeader + name.size() + (is_large ? kZip64Extra : 0) + kExtraHeader;
  const std::vector<zip_uint8_t> padding((0 - begin) % options_.align, 'Z');
  if (zip_file_extra_field_set(archive_.get(), entry, kPaddingExtra, ZIP_EXTRA_FIELD_NEW,
                               padding.data(), static_cast<zip_uint16_t>(padding.size()),
                               ZIP_FL_LOCAL) != 0)
    refuse_error();
  next_ = begin + padding.size() + size;
}

void ZipWriter::finish() {
  if (zip_close(archive_.get()) != 0) refuse_error();
  static_cast<void>(archive_.release());
}

}  // namespace tend::nn
