// Tables of a SIMD kernel file's functions for each element type. Highway cannot export templates.
// So a file exports one function, which returns such a table.
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
