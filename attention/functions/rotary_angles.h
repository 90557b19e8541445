// The two steps of rotary, with which models rotate several tensors by the same angles.
#pragma once

#include <tend/attention/functions/rotary.h>

namespace tend::attention {

/// Cosines and sines of the angles, (..., pairs) for positions (...).
struct RotaryAngles {
  Tensor cosines, sines;
  bool interleaved = false;
};

/// Error, naming `operation`, for the numbers that rotary refuses.
void check_rotary_numbers(const char* operation, const RotaryOptions& options);

/// The angles of `dims` / 2 pairs, computed in float64. Errors of check_rotary_numbers.
RotaryAngles rotary_angles(const Tensor& positions, std::int64_t dims, const RotaryOptions& options,
                           DType dtype);

/// rotary with these angles, which broadcast to x's rows and pairs.
Tensor rotated(const Tensor& x, const RotaryAngles& angles, bool inverse = false);

}  // namespace tend::attention
