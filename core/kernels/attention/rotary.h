// Rotation of pairs of numbers: Su et al. 2021, RoFormer, https://arxiv.org/abs/2104.09864.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Rotates pairs (a, b) in each row of x (..., D) to (a cos - b sin, b cos + a sin).
///
/// With `inverse`, the pairs are rotated back. The cosines and sines of the angles are (..., P),
/// with x's dtype and leading dimensions. The pairs of a row are x[2i] and x[2i + 1] if
/// `interleaved`, else x[i] and x[i + P]. Numbers after the first 2 P are copied. All arrays are
/// floating and have the stride 1 in the last dimension; `out` is contiguous.
void rotate_pairs(const Array& out, const Array& x, const Array& cosines, const Array& sines,
                  bool interleaved, bool inverse);

}  // namespace tend::kernels
