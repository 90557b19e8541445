// abs of a floating number. The abs of C accepts only an int.
#pragma once

#include <cmath>
#include <concepts>

namespace tend {
// This abs is in a separate namespace, so that tend::abs is only the function for tensors. Then
// tend::abs is not overloaded and can be passed as an argument. After `using namespace tend`,
// abs(2.5) still finds the function for numbers.
namespace number_functions {

/// The absolute value of a floating number, such as abs(loss.item()).
///
/// Without this function, such a call would use C's abs, which converts the number to int.
template <std::floating_point T>
T abs(T value) {
  return std::abs(value);
}

}  // namespace number_functions

using namespace number_functions;
}  // namespace tend
