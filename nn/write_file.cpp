#include <tend/nn/write_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <tend/core/error.h>

namespace tend::nn {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : target_(target), path_(target.string() + ".tmp-" + std::to_string(::getpid())) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  void put(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ::ssize_t written = ::write(descriptor_, from, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse();
      from += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void finish() {
    if (::fsync(descriptor_) != 0) refuse();
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0 || ::rename(path_.c_str(), target_.c_str()) != 0) refuse();
    path_.clear();
  }

 private:
  [[noreturn]] void refuse() const {
    fail<IoError>("write_file", target_.string(), ": ", std::strerror(errno));
  }

  std::filesystem::path target_;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

void write_file(const std::filesystem::path& path,
                const std::function<void(const PutBytes&)>& fill) {
  TemporaryFile file(path);
  fill([&](const void* data, std::size_t bytes) { file.put(data, bytes); });
  file.finish();
}

}  // namespace tend::nn
