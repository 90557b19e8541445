// A hash of bytes that is the same on every machine and in every version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tend {

/// The 64-bit FNV-1a hash by Fowler, Noll and Vo.
///
/// Texts of the same length that differ in exactly one byte have different hashes, because each
/// step is one-to-one.
class Fnv1a {
 public:
  void add(const void* data, std::size_t size) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 1099511628211U;
  }
  void add(std::string_view text) noexcept { add(text.data(), text.size()); }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace tend
