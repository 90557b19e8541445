// Bytes that are read from front to end, few at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <tend/core/base/error.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn {

/// Reads ahead in blocks. Errors begin with [operation] and the name.
class ByteReader {
 public:
  /// `read` gives `size` bytes.
  ByteReader(std::string_view operation, std::string name, std::uint64_t size, ReadBytes read)
      : operation_(operation), name_(std::move(name)), left_(size), read_(std::move(read)) {}

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation_, name_, ": ", parts...);
  }

  /// Bytes that follow.
  std::uint64_t left() const noexcept { return left_ + (block_.size() - at_); }
  /// IoError, before anything is allocated, when fewer follow.
  void check_left(std::uint64_t bytes) const {
    if (bytes > left()) refuse("ends too early");
  }
  void read(void* to, std::uint64_t bytes) {
    check_left(bytes);
    const std::uint64_t ready = std::min<std::uint64_t>(bytes, block_.size() - at_);
    if (ready > 0) std::memcpy(to, block_.data() + at_, ready);
    at_ += ready;
    if (bytes == ready) return;
    read_(static_cast<char*>(to) + ready, bytes - ready);
    left_ -= bytes - ready;
  }
  std::uint8_t byte() {
    if (at_ == block_.size()) fill();
    return static_cast<std::uint8_t>(block_[at_++]);
  }
  /// A little-endian number of that many bytes.
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  std::string text(std::uint64_t bytes) {
    check_left(bytes);
    std::string out(bytes, '\0');
    read(out.data(), bytes);
    return out;
  }
  /// Up to the end of the line, which is read, too; of at most 1000 bytes.
  std::string line() {
    std::string out;
    for (char next = 0; (next = static_cast<char>(byte())) != '\n'; out += next)
      if (out.size() == 1000) refuse("a line has more than 1000 bytes");
    return out;
  }

 private:
  void fill() {
    check_left(1);
    block_.resize(std::min<std::uint64_t>(left_, 4096));
    at_ = 0;
    left_ -= block_.size();
    read_(block_.data(), block_.size());
  }

  std::string_view operation_;
  std::string name_;
  std::uint64_t left_;
  ReadBytes read_;
  std::string block_;
  std::size_t at_ = 0;
};

}  // namespace tend::nn
