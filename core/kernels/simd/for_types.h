// A table with the functions of a SIMD kernel file for each element type. Highway cannot export
// templates. So the file exports one function, which returns the table.
#pragma once

#include <concepts>

namespace tend::kernels {

/// A K<T> for each floating element type T. K<T> contains pointers to functions.
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
