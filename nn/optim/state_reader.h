// Reads the entries of a state_dict one by one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tend/nn/module/state_dict.h>

namespace tend::optim::detail {

/// Reads a StateDict for load_state_dict(). The StateDict must live as long as the reader. Errors
/// name `operation` and the key.
class StateReader {
 public:
  /// Throws an Error if a key appears twice.
  StateReader(const char* operation, const nn::StateDict& state);

  bool has(const std::string& key) const { return entries_.contains(key); }
  /// The number of elements of an entry; 0 if it is missing or undefined.
  std::int64_t size_of(const std::string& key) const;
  /// Reads an entry. Throws an Error if it is missing, undefined, or of another shape or dtype.
  Array take(const std::string& key, const Shape& shape, DType dtype);
  /// Reads an integer from a 0-d int64 tensor. Throws an Error if the integer is below `least` or
  /// above 2^53. Up to 2^53, a double can store every integer.
  std::int64_t take_count(const std::string& key, std::int64_t least = 0);
  /// Reads a number from a 0-d float64 tensor.
  double take_number(const std::string& key) { return take(key, {}, float64).item<double>(); }
  /// The key of an entry that was not read, or nullopt if all were read.
  std::optional<std::string_view> left() const;
  /// Throws an Error if an entry was not read.
  void check_all_taken() const;

 private:
  const char* operation_;
  std::map<std::string_view, const Tensor*> entries_;
};

}  // namespace tend::optim::detail
