// HWY_EXPORT wants functions, not templates: one for each element type.
#pragma once

#include <concepts>

namespace tend::kernels {

/// The one for elements of type T.
template <class T, class F, class G>
auto choose(F for_float, G for_double) {
  if constexpr (std::same_as<T, float>) {
    return for_float;
  } else {
    return for_double;
  }
}

}  // namespace tend::kernels
