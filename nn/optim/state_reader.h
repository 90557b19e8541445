// Entries of a state_dict, taken one by one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tend/nn/module/state_dict.h>

namespace tend::optim::detail {

/// Reads a StateDict, which must live as long, for load_state_dict(). Its Errors name `operation`
/// and the key.
class StateReader {
 public:
  /// Error for a key that is there twice.
  StateReader(const char* operation, const nn::StateDict& state);

  bool has(const std::string& key) const { return entries_.contains(key); }
  /// Takes an entry as it is. Error for one that is missing or undefined.
  Tensor take(const std::string& key);
  /// Takes a copy of an entry. Error also for another shape or dtype.
  Array take(const std::string& key, const Shape& shape, DType dtype);
  /// Takes a 0-d int64 that is at least 0 and that a double can count.
  std::int64_t take_count(const std::string& key);
  /// Takes a 0-d float64.
  double take_number(const std::string& key) { return take(key, {}, float64).item<double>(); }
  /// An entry that was not taken; nothing where all were.
  std::optional<std::string_view> left() const;
  /// Error for an entry that was not taken.
  void check_all_taken() const;

 private:
  const char* operation_;
  std::map<std::string_view, const Tensor*> entries_;
};

}  // namespace tend::optim::detail
