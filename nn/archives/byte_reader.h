// A reader of bytes in memory, from front to end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <tend/nn/files/file_name.h>

namespace tend::nn {

/// Reads the bytes of a file from memory, in order. The bytes must outlive the reader.
class ByteReader {
 public:
  ByteReader(const FileName& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(parts...);
  }

  /// The number of bytes that are left.
  std::uint64_t left() const noexcept { return bytes_.size(); }
  /// Returns the next `count` bytes.
  ///
  /// Throws: IoError - fewer bytes are left
  std::string_view take(std::uint64_t count) {
    if (count > left()) refuse("ends too early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  void read(void* to, std::uint64_t bytes) {
    const std::string_view taken = take(bytes);
    if (bytes != 0) std::memcpy(to, taken.data(), bytes);
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1).front()); }
  /// Reads a little-endian number of `bytes` bytes.
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  std::string text(std::uint64_t bytes) { return std::string(take(bytes)); }
  /// Reads a line, and returns it without its newline.
  ///
  /// Throws: IoError - there is no newline
  std::string line() {
    const std::size_t end = bytes_.find('\n');
    if (end == std::string_view::npos) refuse("ends too early");
    const std::string_view taken = take(end + 1);
    return std::string(taken.substr(0, end));
  }

 private:
  FileName file_;
  std::string_view bytes_;
};

}  // namespace tend::nn
