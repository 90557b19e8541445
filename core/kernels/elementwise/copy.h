// Filling, copying and converting elements.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

void fill(const Array& out, const Scalar& value);

/// Copies `a` to out, and converts each element by convert() of scalar.h.
///
/// `a` broadcasts to out. The two must not overlap, unless they are the same view.
void copy(const Array& out, const Array& a);

/// Copies `count` contiguous elements of `item` bytes (1, 4 or 8) to `out` in reverse order,
/// beginning with the element at `last`.
using ReverseRun = void (*)(std::int64_t count, std::byte* out, const std::byte* last);
ReverseRun reverse_run_of(std::size_t item);

}  // namespace tend::kernels
