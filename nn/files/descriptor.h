// File descriptors that close themselves, and system calls that signals may interrupt.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tend::nn {

/// Owns a file descriptor. A negative number means that there is none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  bool is_open() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }

 private:
  int number_;
};

/// Calls call() and repeats it while signals interrupt it. On failure, call() returns a negative
/// number.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace tend::nn
