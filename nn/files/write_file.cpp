#include <tend/nn/files/write_file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/files/descriptor.h>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;

using FileStatus = struct ::stat;

constexpr std::string_view kSuffix = ".tend.tmp";

// The operation and the path, for errors.
struct Subject {
  std::string_view operation;
  const fs::path& path;

  [[noreturn]] void refuse(const std::string& reason) const {
    fail<IoError>(operation, "cannot write ", path.string(), ": ", reason);
  }
  [[noreturn]] void refuse(int error) const { refuse(std::generic_category().message(error)); }
};

// A file that is open for writing.
class OutputFile {
 public:
  OutputFile(const Subject& subject, Descriptor file) : subject_(subject), file_(std::move(file)) {
    if (!file_.is_open()) subject_.refuse(errno);
  }

  int descriptor() const { return file_.get(); }

  void put(const void* data, std::size_t bytes) const {
    write_all(data, bytes, [&](const char* from, std::size_t count) {
      return ::write(file_.get(), from, count);
    });
  }
  void put_at(std::uint64_t position, const void* data, std::size_t bytes) const {
    write_all(data, bytes, [&](const char* from, std::size_t count) {
      const auto done = static_cast<std::size_t>(from - static_cast<const char*>(data));
      return ::pwrite(file_.get(), from, count, static_cast<::off_t>(position + done));
    });
  }
  void flush() const {
    if (uninterrupted([&] { return ::fsync(file_.get()); }) != 0) subject_.refuse(errno);
  }

 private:
  // write_some(from, count) returns the number of bytes that it has written.
  template <class WriteSome>
  void write_all(const void* data, std::size_t bytes, WriteSome write_some) const {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ::ssize_t written = uninterrupted([&] { return write_some(from, bytes); });
      if (written < 0) subject_.refuse(errno);
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  Subject subject_;
  Descriptor file_;
};

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

bool is_same_file(const FileStatus& a, const FileStatus& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Opens the temporary file and locks it, so that it has one writer at a time.
Descriptor open_temporary(const fs::path& path, ::mode_t mode) {
  for (;;) {
    Descriptor file(uninterrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode); }));
    if (!file.is_open()) return file;
    uninterrupted([&] { return ::flock(file.get(), LOCK_EX); });
    // The writer before this one may have renamed or removed the file in the meantime.
    FileStatus opened{}, named{};
    if (::fstat(file.get(), &opened) != 0) return Descriptor();
    if (::lstat(path.c_str(), &named) == 0 && is_same_file(opened, named)) return file;
  }
}

class TemporaryFile {
 public:
  TemporaryFile(const Subject& subject, const fs::path& target, bool replaces)
      : subject_(subject),
        target_(target),
        path_(target.string() + std::string(kSuffix)),
        // If the old file may be private, nobody else may read the new one while it is written.
        file_(subject, open_temporary(path_, replaces ? 0600 : 0666)) {
    if (::ftruncate(file_.descriptor(), 0) != 0) subject_.refuse(errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!is_renamed_) ::unlink(path_.c_str());
  }

  const OutputFile& file() const { return file_; }

  // Gives the file its final name, and the mode of the old file.
  void rename(const std::optional<FileStatus>& old) {
    if (old && ::fchmod(file_.descriptor(), old->st_mode & 0777) != 0) subject_.refuse(errno);
    file_.flush();
    if (::rename(path_.c_str(), target_.c_str()) != 0) subject_.refuse(errno);
    is_renamed_ = true;
    // Without this flush of the folder, the old file might be back after a crash. The old file is
    // whole, too, so a failure here is not an error.
    const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.is_open()) ::fsync(folder.get());
  }

 private:
  Subject subject_;
  fs::path target_, path_;
  OutputFile file_;
  bool is_renamed_ = false;
};

// The status of the file that the path leads to, if there is one.
std::optional<FileStatus> find_status(const Subject& subject) {
  FileStatus status{};
  if (::stat(subject.path.c_str(), &status) == 0) return status;
  if (errno != ENOENT || subject.path.empty()) subject.refuse(errno);
  return {};
}

// The path of the file to which the links of `path` lead. Links must not form a circle.
fs::path followed(fs::path path) {
  while (fs::is_symlink(path)) path = path.parent_path() / fs::read_symlink(path);
  return path;
}

// Calls fill(file) to write a new file, which then replaces the old one at the path.
template <class Fill>
void replace(const Subject& subject, const std::optional<FileStatus>& old, Fill fill) {
  TemporaryFile temporary(subject, followed(subject.path), old.has_value());
  fill(temporary.file());
  temporary.rename(old);
}

// Opens a file for writing without replacing it. `flags` are added to O_WRONLY.
OutputFile open_stream(const Subject& subject, int flags) {
  return OutputFile(subject, Descriptor(uninterrupted([&] {
                      return ::open(subject.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | flags,
                                    0666);
                    })));
}

}  // namespace

void write_file(const fs::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation) {
  const Subject subject{operation, path};
  const auto fill_file = [&](const OutputFile& file) {
    fill([&](const void* data, std::size_t bytes) { file.put(data, bytes); });
  };
  const std::optional<FileStatus> old = find_status(subject);
  if (old && !S_ISREG(old->st_mode)) {
    fill_file(open_stream(subject, 0));
  } else {
    replace(subject, old, fill_file);
  }
}

void write_file(const fs::path& path, std::string_view content, std::string_view operation) {
  write_file(
      path, [&](const PutBytes& put) { put(content.data(), content.size()); }, operation);
}

void write_file_at(const fs::path& path, const std::function<void(const PutBytesAt&)>& fill,
                   std::string_view operation) {
  const Subject subject{operation, path};
  const std::optional<FileStatus> old = find_status(subject);
  if (old && !S_ISREG(old->st_mode)) subject.refuse("is not a regular file");
  replace(subject, old, [&](const OutputFile& file) {
    fill([&](std::uint64_t position, const void* data, std::size_t bytes) {
      file.put_at(position, data, bytes);
    });
  });
}

void append_file(const fs::path& path, std::string_view content, std::string_view operation) {
  const Subject subject{operation, path};
  const OutputFile file = open_stream(subject, O_CREAT | O_APPEND);
  FileStatus before{};
  if (::fstat(file.descriptor(), &before) != 0) subject.refuse(errno);
  try {
    file.put(content.data(), content.size());
  } catch (...) {
    // An incomplete text would look like the beginning of the next one.
    uninterrupted([&] { return ::ftruncate(file.descriptor(), before.st_size); });
    throw;
  }
}

void check_can_write(const fs::path& path) {
  const Subject subject{"check_can_write", path};
  const std::optional<FileStatus> old = find_status(subject);
  if (old && S_ISDIR(old->st_mode)) subject.refuse(EISDIR);
  const bool is_replaced = !old || S_ISREG(old->st_mode);
  const int denied = is_replaced ? ::access(folder_of(followed(path)).c_str(), W_OK | X_OK)
                                 : ::access(path.c_str(), W_OK);
  if (denied != 0) subject.refuse(errno);
}

void remove_leftovers(const fs::path& folder, std::string_view start) {
  std::error_code ignored;  // a file that cannot be removed does no harm
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(kSuffix)) continue;
    const Descriptor file(::open(entry.path().c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    const bool has_writer = file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
    if (!has_writer) fs::remove(entry.path(), ignored);
  }
}

}  // namespace tend::nn
