// Filling, copying and converting elements.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

void fill(const Array& out, const Scalar& value);

/// out[i] = a[i], converted as a C++ cast converts (to bool: not equal to zero); `a` broadcasts to
/// out and does not overlap it, unless both are the same window.
void copy(const Array& out, const Array& a);

}  // namespace tend::kernels
