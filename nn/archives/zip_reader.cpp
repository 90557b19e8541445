#include <tend/nn/archives/zip_reader.h>

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>

#include <zip.h>

namespace tend::nn {
namespace {

// The most unpacked bytes per packed byte: deflate's shortest code stores 258 bytes in two bits.
constexpr std::uint64_t kMostPacked = 1032;

std::string message_of(zip_error_t& error) {
  if (zip_error_code_zip(&error) == ZIP_ER_MEMORY) fail_memory("zip");
  if (zip_error_code_zip(&error) == ZIP_ER_EXISTS) return "a name is used twice";
  return zip_error_strerror(&error);
}

}  // namespace

void ZipReader::Discard::operator()(zip* archive) const noexcept {
  zip_discard(archive);
}

void ZipReader::Entry::Close::operator()(zip_file* file) const noexcept {
  zip_fclose(file);
}

std::uint64_t ZipReader::Entry::read_some(void* to, std::uint64_t bytes) {
  const zip_int64_t count = zip_fread(file_.get(), to, bytes);
  if (count < 0) {
    archive_.refuse("entry '", shown(name_),
                    "' cannot be read: ", message_of(*zip_file_get_error(file_.get())));
  }
  read_ += static_cast<std::uint64_t>(count);
  return static_cast<std::uint64_t>(count);
}

std::optional<std::uint64_t> ZipReader::Entry::position() const noexcept {
  const zip_int64_t at = zip_source_tell(archive_.source_);
  if (!packing_.is_stored || at < 0 || static_cast<std::uint64_t>(at) < read_) return {};
  const std::uint64_t begin = static_cast<std::uint64_t>(at) - read_;
  const std::uint64_t end = archive_.file_.size();
  if (begin > end || packing_.size > end - begin) return {};
  return begin;
}

void ZipReader::Entry::read(void* to, std::uint64_t bytes) {
  char* next = static_cast<char*>(to);
  while (bytes > 0) {
    const std::uint64_t count = read_some(next, bytes);
    if (count == 0) archive_.refuse("entry '", shown(name_), "' ends too early");
    next += count;
    bytes -= count;
  }
}

void ZipReader::Entry::finish() {
  char more = 0;
  if (read_some(&more, 1) != 0)
    archive_.refuse("entry '", shown(name_), "' has more bytes than the archive's directory says");
}

ZipReader::ZipReader(const std::filesystem::path& path, std::string_view operation)
    : file_(path, operation) {
  open_archive();
  read_directory();
}

void ZipReader::open_archive() {
  if (file_.size() == 0) refuse("is empty");
  std::FILE* const stream = ::fdopen(::fcntl(file_.descriptor(), F_DUPFD_CLOEXEC, 0), "rb");
  if (stream == nullptr) refuse("cannot be opened: ", std::generic_category().message(errno));
  zip_error_t error;
  zip_error_init(&error);
  source_ = zip_source_filep_create(stream, 0, -1, &error);  // the source closes the stream
  if (source_ == nullptr) {
    std::fclose(stream);
    fail_memory("zip");
  }
  archive_.reset(zip_open_from_source(source_, ZIP_CHECKCONS | ZIP_RDONLY, &error));
  if (archive_ != nullptr) return;  // the archive owns the source now
  zip_source_free(source_);
  if (zip_error_system_type(&error) == ZIP_ET_SYS) {
    refuse("cannot be read: ", std::generic_category().message(zip_error_code_system(&error)));
  }
  const std::string message = message_of(error);
  zip_error_fini(&error);
  refuse("is not a zip archive, or was cut short: ", message);
}

void ZipReader::read_directory() {
  const auto count = static_cast<std::size_t>(zip_get_num_entries(archive_.get(), 0));
  names_.reserve(count);
  std::uint64_t packed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    zip_stat_t status;
    if (zip_stat_index(archive_.get(), i, ZIP_FL_ENC_RAW, &status) != 0) {
      refuse("entry ", i, ": ", message_of(*zip_get_error(archive_.get())));
    }
    const std::string& name = names_.emplace_back(status.name);
    if (status.encryption_method != ZIP_EM_NONE) refuse("entry '", shown(name), "' is encrypted");
    const bool is_stored = status.comp_method == ZIP_CM_STORE;
    if (!is_stored && status.comp_method != ZIP_CM_DEFLATE) {
      refuse("entry '", shown(name), "' is neither stored nor deflated");
    }
    if (status.comp_size > file_.size() - packed) {
      refuse("entry '", shown(name), "' takes ", status.comp_size,
             " bytes: more than the file has besides the other entries");
    }
    packed += status.comp_size;
    if (is_stored ? status.size != status.comp_size
                  : status.size / kMostPacked > status.comp_size) {
      refuse("entry '", shown(name), "' cannot hold ", status.size, " bytes in ", status.comp_size,
             " packed bytes");
    }
    packings_.push_back({status.size, is_stored});
    numbers_.emplace(name, i);
  }
}

ZipReader::Entry ZipReader::open(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) refuse("has no entry '", shown(name), "'");
  zip_file* const file = zip_fopen_index(archive_.get(), found->second, 0);
  if (file == nullptr) {
    refuse("entry '", shown(name),
           "' cannot be opened: ", message_of(*zip_get_error(archive_.get())));
  }
  return Entry(*this, name, file, packings_[found->second]);
}

std::string ZipReader::read_all(std::string_view name, std::uint64_t limit) const {
  Entry entry = open(name);
  if (entry.size() > limit) {
    refuse("entry '", shown(name), "' has ", entry.size(), " bytes, more than ", limit);
  }
  std::string content(entry.size(), '\0');
  entry.read(content.data(), content.size());
  entry.finish();
  return content;
}

}  // namespace tend::nn
