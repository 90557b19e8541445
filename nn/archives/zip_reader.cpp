#include <tend/nn/archives/zip_reader.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <tend/core/base/error.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/uninterrupted.h>

#include <zip.h>

namespace tend::nn {
namespace {

// Deflate's densest code gives 258 bytes for two bits.
constexpr std::uint64_t kMostPacked = 1032;

std::string message_of(zip_error_t& error) {
  if (zip_error_code_zip(&error) == ZIP_ER_MEMORY) fail_memory();
  if (zip_error_code_zip(&error) == ZIP_ER_EXISTS) return "a name is used twice";
  return zip_error_strerror(&error);
}

}  // namespace

// libzip does not say where an entry's bytes lie; here one sees where it reads them.
struct ZipReader::Source {
  explicit Source(const InputFile& input) : file(input) { zip_error_init(&error); }

  static zip_int64_t answer(void* self, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    return static_cast<Source*>(self)->answer(data, bytes, command);
  }
  zip_int64_t answer(void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_SUPPORTS, ZIP_SOURCE_OPEN, ZIP_SOURCE_READ,
                                              ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
                                              ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              -1);
      case ZIP_SOURCE_OPEN: position = 0; return 0;
      case ZIP_SOURCE_READ: return read(data, bytes);
      case ZIP_SOURCE_SEEK: return seek(data, bytes);
      case ZIP_SOURCE_TELL: return static_cast<zip_int64_t>(position);
      case ZIP_SOURCE_STAT: return tell_size(static_cast<zip_stat_t*>(data));
      case ZIP_SOURCE_ERROR: return zip_error_to_data(&error, data, bytes);
      default: return 0;
    }
  }
  zip_int64_t read(void* to, zip_uint64_t bytes) {
    const ::ssize_t count = uninterrupted(
        [&] { return ::pread(file.descriptor(), to, bytes, static_cast<::off_t>(position)); });
    if (count < 0) {
      zip_error_set(&error, ZIP_ER_READ, errno);
      return -1;
    }
    last_bytes = static_cast<std::uint64_t>(count);
    position += last_bytes;
    return count;
  }
  zip_int64_t seek(void* data, zip_uint64_t bytes) {
    const zip_int64_t to =
        zip_source_seek_compute_offset(position, file.size(), data, bytes, &error);
    if (to < 0) return -1;
    position = static_cast<std::uint64_t>(to);
    return 0;
  }
  zip_int64_t tell_size(zip_stat_t* status) const {
    zip_stat_init(status);
    status->valid = ZIP_STAT_SIZE;
    status->size = file.size();
    return sizeof(*status);
  }

  const InputFile& file;
  zip_error_t error;
  std::uint64_t position = 0;    // of the next read
  std::uint64_t last_bytes = 0;  // of the last one
};

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
  last_bytes_ = static_cast<std::uint64_t>(count);
  left_ -= std::min(left_, last_bytes_);
  return last_bytes_;
}

std::optional<std::uint64_t> ZipReader::Entry::place() const noexcept {
  // A deflated entry gives other bytes than the file has; so would a libzip that reads ahead.
  const Source& source = *archive_.source_;
  const std::uint64_t read = size_.bytes - left_;
  if (!size_.is_stored || last_bytes_ != source.last_bytes || source.position < read) return {};
  const std::uint64_t begin = source.position - read;
  if (size_.bytes > archive_.file_.size() - begin) return {};
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
  if (read_some(&more, 1) != 0) archive_.refuse("entry '", shown(name_), "' goes on after its end");
}

ZipReader::ZipReader(const std::filesystem::path& path, std::string_view operation)
    : file_(path, operation), source_(std::make_unique<Source>(file_)) {
  open_archive();
  read_directory();
}

ZipReader::~ZipReader() = default;

void ZipReader::open_archive() {
  if (file_.size() == 0) refuse("is empty");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_function_create(Source::answer, source_.get(), &error);
  if (source == nullptr) fail_memory();
  archive_.reset(zip_open_from_source(source, ZIP_CHECKCONS | ZIP_RDONLY, &error));
  if (archive_ != nullptr) return;  // and owns the source
  zip_source_free(source);
  if (zip_error_system_type(&error) == ZIP_ET_SYS) {
    refuse("cannot be read: ", std::generic_category().message(zip_error_code_system(&error)));
  }
  const std::string message = message_of(error);
  zip_error_fini(&error);
  refuse("is no zip archive, or was cut short: ", message);
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
             " bytes: more than the file has beside the others");
    }
    packed += status.comp_size;
    if (is_stored ? status.size != status.comp_size
                  : status.size / kMostPacked > status.comp_size) {
      refuse("entry '", shown(name), "' cannot hold ", status.size, " bytes in ", status.comp_size);
    }
    sizes_.push_back({status.size, is_stored});
    if (!numbers_.try_emplace(name, i).second) {
      refuse("the name '", shown(name), "' is used twice");
    }
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
  return Entry(*this, name, file, sizes_[found->second]);
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
