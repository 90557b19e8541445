// Rotation of pairs of numbers: Su et al. 2021, RoFormer, https://arxiv.org/abs/2104.09864.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Rotates pairs in each row of x (..., D) by angles whose cosines and sines (..., P), of x's dtype
/// and leading dimensions, are given: (a, b) becomes (a cos - b sin, b cos + a sin), or with
/// `inverse` the rotation back. The pairs of a row are x[2i] and x[2i + 1] where `interleaved`,
/// else x[i] and x[i + P]; what comes behind the first 2 P numbers is copied. All floating, with
/// the stride 1 in the last dimension; `out` is contiguous.
void rotate_pairs(const Array& out, const Array& x, const Array& cosines, const Array& sines,
                  bool interleaved, bool inverse);

}  // namespace tend::kernels
