// abs of a number, which C has for an int alone.
#pragma once

#include <cmath>
#include <concepts>

namespace tend {
// In a namespace of its own, so that tend::abs is one function that can be passed on, that of
// tensors, while abs(2.5) after `using namespace tend` finds this one, too.
namespace number_functions {

/// |value| of a number such as abs(loss.item()): without it that would be C's abs, of an int.
template <std::floating_point T>
T abs(T value) {
  return std::abs(value);
}

}  // namespace number_functions

using namespace number_functions;
}  // namespace tend
