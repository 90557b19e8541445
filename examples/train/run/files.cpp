#include "examples/train/run/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <tend/nn/files/descriptor.h>

namespace train {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr int kPatienceForWriter = 3000;  // milliseconds

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw std::runtime_error("cannot read " + path + ": " + reason);
}
[[noreturn]] void refuse(const std::string& path, int error) {
  refuse(path, std::generic_category().message(error));
}

/// Waits until a pipe has bytes or a writer, since one that has neither looks as if it had ended.
/// Returns the byte that came at the last moment.
std::string wait_for_writer(const std::string& path, int pipe) {
  pollfd ready{pipe, POLLIN, 0};
  if (poll(&ready, 1, kPatienceForWriter) != 0) return {};
  char byte = 0;
  const ssize_t count = read(pipe, &byte, 1);
  if (count == 0) refuse(path, "nobody writes to it");
  return std::string(count == 1 ? 1 : 0, byte);
}

/// Opening does not wait: a pipe may be one that nobody ever writes to.
/// `content` gets what was read while waiting.
tend::nn::Descriptor open_file(const std::string& path, std::string& content) {
  tend::nn::Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || fstat(file.get(), &status) != 0) refuse(path, errno);
  if (S_ISDIR(status.st_mode)) refuse(path, EISDIR);
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    refuse(path, "it is neither a file nor a pipe");
  }
  if (S_ISFIFO(status.st_mode)) content = wait_for_writer(path, file.get());
  fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  return file;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::string content;
  const tend::nn::Descriptor file = open_file(path, content);
  for (std::size_t size = content.size();;) {
    content.resize(size + (std::size_t{1} << 16));
    const ssize_t count = read(file.get(), content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, errno);
    size += static_cast<std::size_t>(count);
    if (size > kMaxBytes) refuse(path, "it has more than 2^30 bytes");
    if (count == 0) {
      content.resize(size);
      return content;
    }
  }
}

}  // namespace train
