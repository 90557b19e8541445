#include <tend/nn/files/write_file.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include <tend/core/base/error.h>
#include <tend/nn/files/descriptor.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/uninterrupted.h>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;

using FileStatus = struct ::stat;

constexpr std::chrono::seconds kPatienceForReader{3};
constexpr int kMaxLinks = 40;           // as in Linux
constexpr std::size_t kKeptName = 200;  // bytes of a name (of at most 255) in a temporary name
constexpr const char* kMark = ".tend-";
constexpr const char* kSuffix = ".tmp";

// Who writes what, for errors.
struct Subject {
  std::string_view operation;
  const fs::path& path;

  [[noreturn]] void refuse(const std::string& reason) const {
    fail<IoError>(operation, "cannot write ", path.string(), ": ", reason);
  }
  [[noreturn]] void refuse(int error) const { refuse(std::generic_category().message(error)); }
};

void write_all(const Subject& subject, int descriptor, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ::ssize_t written = uninterrupted([&] { return ::write(descriptor, from, bytes); });
    if (written < 0 && errno == EAGAIN) {  // a standard output that somebody made non-blocking
      ::pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) subject.refuse(errno);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

// The same file under a number that is no standard stream's: where the program has closed one of
// these, open() returns its number, and what the program prints would land in the file.
Descriptor above_streams(int number) {
  if (number < 0 || number > STDERR_FILENO) return Descriptor(number);
  const Descriptor low(number);
  return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

bool is_same_file(const FileStatus& a, const FileStatus& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

// While it lives, this thread gets the error of a write() alone, and no signal: EPIPE for a pipe
// that nobody reads, EFBIG beyond the largest size that the process may write.
class WriteSignalBlocked {
 public:
  explicit WriteSignalBlocked(int signal) {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, signal);
    ::sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  WriteSignalBlocked(const WriteSignalBlocked&) = delete;
  WriteSignalBlocked& operator=(const WriteSignalBlocked&) = delete;
  ~WriteSignalBlocked() {
    const ::timespec now{};
    while (!was_pending_ && ::sigtimedwait(&signal_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  ::sigset_t signal_{};
  ::sigset_t before_{};
  bool was_pending_ = false;
};

// --- regular files: written beside and renamed

std::string temporary_prefix(const fs::path& target) {
  return target.filename().string().substr(0, kKeptName) + kMark;
}

// Whether the name is that of a temporary file and begins so.
bool is_temporary_name(const std::string& name, std::string_view start) {
  const std::string_view suffix = kSuffix, mark = kMark;
  const std::size_t marked = name.rfind(mark), number = marked + mark.size();
  if (!name.starts_with(start) || marked == std::string::npos || !name.ends_with(suffix))
    return false;
  const std::size_t end = name.size() - suffix.size();
  return number < end && name.find_first_not_of("0123456789-", number) == end;
}

// A process keeps its temporary files locked, so one that can be locked belongs to nobody.
void remove_if_abandoned(const char* path) {
  Descriptor file(::open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open())
    file = Descriptor(::open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  FileStatus opened{}, named{};
  if (!file.is_open() || ::fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  // Its owner may have renamed it before the lock was ours.
  if (::lstat(path, &named) == 0 && is_same_file(opened, named)) ::unlink(path);
}

class TemporaryFile {
 public:
  /// `mode` is that of the new file, less the bits of the process's umask.
  TemporaryFile(const Subject& subject, const fs::path& target, ::mode_t mode) : subject_(subject) {
    static std::atomic<std::uint64_t> count{0};
    for (;;) {
      path_ = folder_of(target) / (temporary_prefix(target) + std::to_string(owner_) + '-' +
                                   std::to_string(count++) + kSuffix);
      const int number = uninterrupted(
          [&] { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); });
      if (number < 0 && errno == EEXIST) continue;
      if (number < 0) subject_.refuse(errno);
      file_ = above_streams(number);
      if (!file_.is_open()) give_up(errno);
      if (lock()) return;
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    // The child of a fork() has a copy of this, and the parent is still writing.
    if (file_.is_open() && ::getpid() == owner_) ::unlink(path_.c_str());
  }

  void put(const void* data, std::size_t bytes) { write_all(subject_, file_.get(), data, bytes); }

  void take_owner_and_mode(const FileStatus& old) {
    FileStatus own{};
    if (::fstat(file_.get(), &own) != 0) subject_.refuse(errno);
    const bool is_other = own.st_uid != old.st_uid || own.st_gid != old.st_gid;
    ::mode_t kept = 07777;
    if (is_other && ::fchown(file_.get(), old.st_uid, old.st_gid) != 0) {
      // Without the old owner, the set-user-ID bit would grant another user's rights, and without
      // the old group the group's bits those of another group.
      kept = ::fchown(file_.get(), static_cast<::uid_t>(-1), old.st_gid) == 0 ? 0777 : 0707;
    }
    if (::fchmod(file_.get(), old.st_mode & kept) != 0) subject_.refuse(errno);
  }

  void rename_to(const fs::path& target) {
    const fs::path folder_path = folder_of(target);
    if (flush(file_) != 0) subject_.refuse(errno);
    if (::rename(path_.c_str(), target.c_str()) != 0) subject_.refuse(errno);
    file_ = Descriptor();
    // Without this a crash might bring back the old file, which is whole, too: no error.
    const Descriptor folder(uninterrupted(
        [&] { return ::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (folder.is_open()) flush(folder);
  }

 private:
  static int flush(const Descriptor& file) {
    return uninterrupted([&] { return ::fsync(file.get()); });
  }

  // False when another process took the file for abandoned, and removed it, before it was locked.
  // On a file system without locks there is no lock; what killed processes leave there stays.
  bool lock() {
    uninterrupted([&] { return ::flock(file_.get(), LOCK_EX); });
    FileStatus own{};
    if (::fstat(file_.get(), &own) != 0) give_up(errno);
    return own.st_nlink > 0;
  }

  // From the constructor, which no destructor follows.
  [[noreturn]] void give_up(int error) const {
    ::unlink(path_.c_str());
    subject_.refuse(error);
  }

  Subject subject_;
  ::pid_t owner_ = ::getpid();
  fs::path path_;
  Descriptor file_;
};

void replace(const Subject& subject, const fs::path& target, const FileStatus* old,
             const std::function<void(const PutBytes&)>& fill) {
  remove_leftovers(folder_of(target), temporary_prefix(target));
  // Nobody else reads what will be a private file, not even while it is written.
  TemporaryFile file(subject, target, old != nullptr ? 0600 : 0666);
  const WriteSignalBlocked no_signal(SIGXFSZ);
  fill([&](const void* data, std::size_t bytes) { file.put(data, bytes); });
  if (old != nullptr) file.take_owner_and_mode(*old);
  file.rename_to(target);
}

// --- everything else: written into

// The descriptor among standard output and standard error that is this very file, or -1.
int standard_stream(const FileStatus& status) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    FileStatus own{};
    if (::fstat(descriptor, &own) == 0 && is_same_file(own, status)) return descriptor;
  }
  return -1;
}

// Opening a pipe waits for a reader; one that never comes must not stop the program for good.
Descriptor open_existing(const Subject& subject, bool is_pipe) {
  const auto deadline = std::chrono::steady_clock::now() + kPatienceForReader;
  for (;;) {
    const int number = ::open(subject.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (number >= 0) {
      ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_NONBLOCK);
      return above_streams(number);
    }
    if (!(is_pipe && errno == ENXIO) && errno != EINTR) subject.refuse(errno);
    if (std::chrono::steady_clock::now() >= deadline) subject.refuse("nobody reads it");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void write_into(const Subject& subject, const FileStatus& status,
                const std::function<void(const PutBytes&)>& fill) {
  const int standard = standard_stream(status);
  const Descriptor file = standard >= 0 ? Descriptor(::fcntl(standard, F_DUPFD_CLOEXEC, 3))
                                        : open_existing(subject, S_ISFIFO(status.st_mode));
  if (!file.is_open()) subject.refuse(errno);
  fill([&](const void* data, std::size_t bytes) {
    const WriteSignalBlocked no_signal(SIGPIPE);
    write_all(subject, file.get(), data, bytes);
  });
}

fs::path followed(const Subject& subject) {
  check_name({subject.operation, subject.path});
  fs::path target = subject.path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == kMaxLinks) subject.refuse(ELOOP);
    const fs::path next = fs::read_symlink(target, error);
    if (error) subject.refuse(error.value());
    target = target.parent_path() / next;  // only `next` when it is absolute
  }
  return target;
}

}  // namespace

void write_file(const fs::path& path, const std::function<void(const PutBytes&)>& fill,
                std::string_view operation) {
  const Subject subject{operation, path};
  if (!fill) fail(operation, "there is no function that fills ", path.string());
  check_name({subject.operation, subject.path});
  FileStatus status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) subject.refuse(errno);
  if (exists && (!S_ISREG(status.st_mode) || standard_stream(status) >= 0)) {
    write_into(subject, status, fill);
    return;
  }
  const fs::path target = followed(subject);
  // Links in /proc lead to open files, which may have lost their name.
  FileStatus found{};
  if (exists && ::lstat(target.c_str(), &found) != 0)
    subject.refuse("it leads to a file that has no name");
  replace(subject, target, exists ? &status : nullptr, fill);
}

void write_file(const fs::path& path, std::string_view content, std::string_view operation) {
  write_file(
      path, [&](const PutBytes& put) { put(content.data(), content.size()); }, operation);
}

void append_file(const fs::path& path, std::string_view content, std::string_view operation) {
  const Subject subject{operation, path};
  check_name({subject.operation, subject.path});
  // Opening a pipe must not wait for a reader.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Descriptor file =
      above_streams(uninterrupted([&] { return ::open(path.c_str(), kFlags, 0666); }));
  if (!file.is_open()) subject.refuse(errno);
  const WriteSignalBlocked no_pipe(SIGPIPE), no_limit(SIGXFSZ);
  FileStatus before{};
  if (::fstat(file.get(), &before) != 0) subject.refuse(errno);
  try {
    write_all(subject, file.get(), content.data(), content.size());
  } catch (...) {
    // A part would be taken for the beginning of what is appended next.
    if (S_ISREG(before.st_mode))
      uninterrupted([&] { return ::ftruncate(file.get(), before.st_size); });
    throw;
  }
}

void check_can_write(const fs::path& path) {
  const Subject subject{"check_can_write", path};
  check_name({subject.operation, subject.path});
  FileStatus status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && (errno != ENOENT || path.empty())) subject.refuse(errno);
  if (exists && S_ISDIR(status.st_mode)) subject.refuse(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    if (::access(path.c_str(), W_OK) != 0) subject.refuse(errno);
  } else if (::access(folder_of(followed(subject)).c_str(), W_OK | X_OK) != 0) {
    subject.refuse(errno);
  }
}

fs::path follow_links(const fs::path& path) {
  return followed({"follow_links", path});
}

int for_each_name(const fs::path& folder, FunctionRef<void(const std::string&)> f) {
  const std::unique_ptr<::DIR, int (*)(::DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return errno;
  while (true) {
    errno = 0;
    const ::dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) return errno;
    f(entry->d_name);
  }
}

void remove_leftovers(const fs::path& folder, std::string_view start) {
  for_each_name(folder, [&](const std::string& name) {
    if (is_temporary_name(name, start)) remove_if_abandoned((folder / name).c_str());
  });
}

}  // namespace tend::nn
