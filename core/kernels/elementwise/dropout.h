// Dropout, whose mask is stored as bits.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// An int64 array with room for `count` bits of draw_keep_bits. Eight bytes may be read from the
/// address of each byte that contains such a bit.
Array keep_bits_room(std::int64_t count);

/// out[i] = a[i] * factor where bit i of `bits` (draw_keep_bits) is set, else a[i] * 0.
///
/// NaN and inf thus become NaN where they are dropped, as in a product with a mask of numbers. `a`
/// and out are row-major, float32 or float64, and may be the same.
void mul_kept(const Array& out, const Array& a, const Array& bits, double factor);

}  // namespace tend::kernels
