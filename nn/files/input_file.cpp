#include <tend/nn/files/input_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tend::nn {

InputFile::InputFile(std::filesystem::path path, std::string_view operation)
    : path_(std::move(path)), operation_(operation) {
  file_ = Descriptor(uninterrupted([&] {
    // O_NONBLOCK: opening a pipe must not wait for a writer.
    return ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }));
  struct ::stat status {};
  if (!file_.is_open() || ::fstat(file_.get(), &status) != 0) {
    refuse("cannot be opened: ", std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(void* to, std::uint64_t bytes) {
  read_at(next_, to, bytes);
  next_ += bytes;
}

void InputFile::read_at(std::uint64_t position, void* to, std::uint64_t bytes) const {
  char* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ::ssize_t count = uninterrupted(
        [&] { return ::pread(file_.get(), next, bytes, static_cast<::off_t>(position)); });
    if (count < 0) refuse("cannot be read: ", std::generic_category().message(errno));
    if (count == 0) refuse("ends too early");
    next += count;
    position += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
}

}  // namespace tend::nn
