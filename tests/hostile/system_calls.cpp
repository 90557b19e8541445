#include "tests/hostile/system_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>

namespace tend::test {
namespace {

constinit thread_local FaultyCall* active_call = nullptr;

// Whether the call that is about to be made fails with one of these faults; then errno says why.
bool fails(const char* name, std::initializer_list<Fault> faults) noexcept {
  if (active_call == nullptr) return false;
  for (const Fault fault : faults) {
    if (!active_call->meets(fault, name)) continue;
    errno = fault == Fault::interrupted ? EINTR
            : fault == Fault::disk_full ? ENOSPC
            : fault == Fault::gone      ? ENOENT
                                        : EIO;
    return true;
  }
  return false;
}

// How many bytes the call may transfer.
std::size_t transferred(const char* name, std::size_t bytes) noexcept {
  const bool is_cut =
      bytes > 1 && active_call != nullptr && active_call->meets(Fault::cut_short, name);
  return is_cut ? 1 : bytes;
}

// The function that would have been called.
template <class Function>
Function* next_of(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

FaultyCall::FaultyCall(Fault fault, std::int64_t n, bool once) noexcept
    : fault_(fault), n_(n), once_(once) {
  active_call = this;
}

FaultyCall::~FaultyCall() {
  active_call = nullptr;
}

void FaultyCall::stop() noexcept {
  active_call = nullptr;
}

bool FaultyCall::meets(Fault fault, const char* name) noexcept {
  if (fault != fault_) return false;
  const std::int64_t number = ++calls_;
  if (number == n_) name_ = name;
  return once_ ? number == n_ : number >= n_;
}

}  // namespace tend::test

// They stand before those of the C library, for every part of the program.
extern "C" {

using tend::test::Fault;

int open(const char* path, int flags, ...) {
  ::mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    std::va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, ::mode_t);
    va_end(rest);
  }
  if (tend::test::fails("open", {Fault::interrupted, Fault::broken, Fault::gone})) return -1;
  if ((flags & O_CREAT) != 0 && tend::test::fails("open", {Fault::disk_full})) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

::ssize_t read(int file, void* to, std::size_t bytes) {
  if (tend::test::fails("read", {Fault::interrupted, Fault::broken})) return -1;
  return ::syscall(SYS_read, file, to, tend::test::transferred("read", bytes));
}

::ssize_t pread(int file, void* to, std::size_t bytes, ::off_t position) {
  if (tend::test::fails("pread", {Fault::interrupted, Fault::broken})) return -1;
  return ::syscall(SYS_pread64, file, to, tend::test::transferred("pread", bytes), position);
}

::ssize_t write(int file, const void* from, std::size_t bytes) {
  if (tend::test::fails("write", {Fault::interrupted, Fault::broken, Fault::disk_full})) return -1;
  return ::syscall(SYS_write, file, from, tend::test::transferred("write", bytes));
}

int fsync(int file) {
  if (tend::test::fails("fsync", {Fault::interrupted, Fault::broken, Fault::disk_full})) return -1;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int flock(int file, int operation) noexcept {
  if (tend::test::fails("flock", {Fault::interrupted, Fault::broken})) return -1;
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}

int rename(const char* from, const char* to) noexcept {
  if (tend::test::fails("rename", {Fault::broken, Fault::disk_full, Fault::gone})) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int fstat(int file, struct ::stat* status) noexcept {
  if (tend::test::fails("fstat", {Fault::broken})) return -1;
  static auto* const next = tend::test::next_of<int(int, struct ::stat*)>("fstat");
  return next(file, status);
}

int stat(const char* path, struct ::stat* status) noexcept {
  if (tend::test::fails("stat", {Fault::broken, Fault::gone})) return -1;
  static auto* const next = tend::test::next_of<int(const char*, struct ::stat*)>("stat");
  return next(path, status);
}

int lstat(const char* path, struct ::stat* status) noexcept {
  if (tend::test::fails("lstat", {Fault::broken, Fault::gone})) return -1;
  static auto* const next = tend::test::next_of<int(const char*, struct ::stat*)>("lstat");
  return next(path, status);
}

int fchmod(int file, ::mode_t mode) noexcept {
  if (tend::test::fails("fchmod", {Fault::broken})) return -1;
  return static_cast<int>(::syscall(SYS_fchmod, file, mode));
}

::DIR* opendir(const char* path) {
  if (tend::test::fails("opendir", {Fault::broken, Fault::gone})) return nullptr;
  static auto* const next = tend::test::next_of<::DIR*(const char*)>("opendir");
  return next(path);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
           ::off_t position) noexcept {
  if (file >= 0 && tend::test::fails("mmap", {Fault::broken})) return MAP_FAILED;
  return reinterpret_cast<void*>(
      ::syscall(SYS_mmap, address, bytes, protection, flags, file, position));
}
}
