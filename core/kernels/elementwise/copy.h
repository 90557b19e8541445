// Filling, copying and converting elements.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

void fill(const Array& out, const Scalar& value);

/// out[i] = a[i], converted by convert() of scalar.h; `a` broadcasts to out and does not overlap
/// it, unless both are the same view.
void copy(const Array& out, const Array& a);

}  // namespace tend::kernels
