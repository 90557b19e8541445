// Filling, copying and converting elements.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

void fill(const Array& out, const Scalar& value);

/// out[i] = a[i], converted by convert() of scalar.h; `a` broadcasts to out and does not overlap
/// it, unless both are the same view.
void copy(const Array& out, const Array& a);

/// Copies `count` contiguous elements of `item` bytes (1, 4 or 8) to `out`, from the one at `last`
/// backwards.
using ReverseRun = void (*)(std::int64_t count, std::byte* out, const std::byte* last);
ReverseRun reverse_run_of(std::size_t item);

}  // namespace tend::kernels
