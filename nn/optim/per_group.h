// Numbers that groups of parameters may have of their own.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace tend::optim {

/// A number for all groups, or one for each: 1e-5, or {1e-4, 1e-5}.
class PerGroup {
 public:
  PerGroup(double number) : number_(number) {}
  PerGroup(std::vector<double> numbers) noexcept : numbers_(std::move(numbers)) {}
  PerGroup(std::initializer_list<double> numbers) : numbers_(numbers) {}

  /// The number of a group. IndexError where each has its own, and there is no such group.
  double of(std::size_t group) const;
  /// Error where there is one for each of other than `groups` groups, with the operation and the
  /// setting that this is.
  void check(const char* operation, const char* setting, std::size_t groups) const;

 private:
  double number_ = 0;
  std::optional<std::vector<double>> numbers_;
};

}  // namespace tend::optim
