#pragma once

#include <cstdint>
#include <string_view>

namespace train {

/// FNV-1a with 64 bits, of Fowler, Noll and Vo. Two texts that differ in one byte never have the
/// same value, for each step is one-to-one.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace train
