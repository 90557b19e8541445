#include <tend/nn/files/write_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include <tend/core/base/error.h>
#include <tend/nn/files/descriptor.h>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 140;  // bytes of a file's name in the name of its temporary file
constexpr std::size_t kMaxHost = 64;

// Who writes what, for errors.
struct Subject {
  std::string_view operation;
  const fs::path& path;

  [[noreturn]] void refuse(const std::string& reason) const {
    fail<IoError>(operation, "cannot write ", path.string(), ": ", reason);
  }
  [[noreturn]] void refuse(int error) const { refuse(std::generic_category().message(error)); }
};

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// What names of temporary files of this machine have before the process number.
std::string mark_of_host() {
  char host[kMaxHost + 1] = {};
  ::gethostname(host, kMaxHost);
  return ".tend-" + std::string(host) + '-';
}

// The process that made a temporary file of this machine for a file whose name begins with
// `start`; 0 for other names.
::pid_t owner_of(std::string_view name, std::string_view start) {
  static const std::string mark = mark_of_host();
  const std::size_t marked = name.rfind(mark);
  if (!name.starts_with(start) || marked == std::string_view::npos) return 0;
  ::pid_t owner = 0;
  std::from_chars(name.data() + marked + mark.size(), name.data() + name.size(), owner);
  return owner;
}

class TemporaryFile {
 public:
  TemporaryFile(const Subject& subject, const fs::path& path) : subject_(subject) {
    std::error_code error;
    const fs::file_status old = fs::status(path, error);
    if (fs::exists(old)) old_ = old.permissions() & fs::perms::all;
    target_ = old_ ? fs::canonical(path) : path;
    const std::string start = target_.filename().string().substr(0, kMaxName);
    remove_leftovers(folder_of(target_), start);
    static std::atomic<std::uint64_t> count{0};
    path_ = folder_of(target_) / (start + mark_of_host() + std::to_string(::getpid()) + '-' +
                                  std::to_string(count++) + ".tmp");
    // Nobody else may read what will be a private file, not even while it is written.
    const ::mode_t mode = old_ ? 0600 : 0666;
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (!file_.is_open()) subject_.refuse(errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!is_published_ && !path_.empty()) ::unlink(path_.c_str());
  }

  const fs::path& path() const { return path_; }

  void put(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ::ssize_t written = ::write(file_.get(), from, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) subject_.refuse(errno);
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void publish() {
    // Another library may have put another file in its place.
    file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.is_open() || ::fsync(file_.get()) != 0) subject_.refuse(errno);
    if (old_ && ::fchmod(file_.get(), static_cast<::mode_t>(*old_)) != 0) subject_.refuse(errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) subject_.refuse(errno);
    is_published_ = true;
    // Makes the new name last. Without this a crash might bring back the old file, which is whole.
    const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.is_open()) ::fsync(folder.get());
  }

 private:
  Subject subject_;
  fs::path target_, path_;
  std::optional<fs::perms> old_;  // the mode of the file that is replaced
  Descriptor file_;
  bool is_published_ = false;
};

void write_stream(const Subject& subject, const std::function<void(const PutBytes&)>& fill) {
  std::ofstream out(subject.path, std::ios::binary);
  fill([&](const void* data, std::size_t bytes) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  });
  if (!out.flush()) subject.refuse(errno);
}

}  // namespace

void write_file(const fs::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation) {
  const Subject subject{operation, path};
  if (!fill) fail(operation, "there is no function that fills ", path.string());
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) subject.refuse(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_stream(subject, fill);
  TemporaryFile file(subject, path);
  fill([&](const void* data, std::size_t bytes) { file.put(data, bytes); });
  file.publish();
}

void write_file(const fs::path& path, std::string_view content, std::string_view operation) {
  write_file(
      path, [&](const PutBytes& put) { put(content.data(), content.size()); }, operation);
}

void replace_file(const fs::path& path, const std::function<void(const fs::path&)>& make,
                  std::string_view operation) {
  const Subject subject{operation, path};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) subject.refuse("is no regular file");
  TemporaryFile file(subject, path);
  make(file.path());
  file.publish();
}

void append_file(const fs::path& path, std::string_view content, std::string_view operation) {
  const Subject subject{operation, path};
  std::error_code error;
  const bool is_regular = fs::is_regular_file(path, error);
  const std::uintmax_t size = is_regular ? fs::file_size(path, error) : 0;
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (out.flush()) return;
  const int reason = errno;
  out.close();
  // A part would be taken for the beginning of what is appended next.
  if (is_regular) fs::resize_file(path, size, error);
  subject.refuse(reason);
}

void check_can_write(const fs::path& path) {
  const Subject subject{"check_can_write", path};
  if (path.empty()) subject.refuse(ENOENT);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) subject.refuse(EISDIR);
  const bool is_special = fs::exists(status) && !fs::is_regular_file(status);
  const fs::path asked = is_special ? path : folder_of(fs::weakly_canonical(path, error));
  if (::access(asked.c_str(), is_special ? W_OK : W_OK | X_OK) != 0) subject.refuse(errno);
}

void remove_leftovers(const fs::path& folder, std::string_view start) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const ::pid_t owner = owner_of(entry.path().filename().string(), start);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), error);
  }
}

}  // namespace tend::nn
