// What a SIMD kernel file hands out: functions for each element type. Highway exports functions by
// name, not templates; so a file exports a single one, which gives all of these.
#pragma once

#include <concepts>

namespace tend::kernels {

/// A K, pointers to functions, for elements of each type.
template <template <class> class K>
struct ForTypes {
  K<float> floats;
  K<double> doubles;

  template <class T>
  const K<T>& of() const {
    if constexpr (std::same_as<T, float>) {
      return floats;
    } else {
      return doubles;
    }
  }
};

}  // namespace tend::kernels
