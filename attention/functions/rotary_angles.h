// The two steps of rotary(). Models use them to rotate several tensors by the same angles.
#pragma once

#include <tend/attention/functions/rotary.h>

namespace tend::attention {

/// Cosines and sines of the angles: (..., pairs) for positions of shape (...).
struct RotaryAngles {
  Tensor cosines, sines;
  bool interleaved = false;
};

/// Checks theta and the scaling; `operation` is the name in messages.
///
/// Throws: Error - theta or the scaling is out of range; see rotary()
void check_rotary_numbers(const char* operation, const RotaryOptions& options);

/// The angles of `dims` / 2 pairs, computed in float64. Throws the errors of
/// check_rotary_numbers.
RotaryAngles rotary_angles(const Tensor& positions, std::int64_t dims, const RotaryOptions& options,
                           DType dtype);

/// Rotates the pairs of x. With `inverse` it rotates back.
///
/// The cosines and sines, (..., pairs), broadcast to x's shape with the last dimension replaced by
/// `pairs`.
Tensor rotated(const Tensor& x, const RotaryAngles& angles, bool inverse = false);

}  // namespace tend::attention
