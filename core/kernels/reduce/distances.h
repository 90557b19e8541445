// Distances between all rows of two matrices.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// True if distances and their gradients have a kernel for norms of order p: for 0, 1, 2 and
/// infinity.
bool has_distance_kernel(double p) noexcept;

// All arrays have one floating dtype. a (..., n, k) and b (..., m, k) broadcast to the leading
// dimensions of the row-major (..., n, m) arrays. The error of a sum of k terms is at most
// (k / 2 + 4) / 2 ulp of the sum of their magnitudes, since the narrowest vectors have two lanes of
// float64. Without vectors it is at most k / 2 ulp.

/// out[..., i, j] = norm(a[..., i, :] - b[..., j, :], p), or NaN if one of the elements is NaN.
void distances(const Array& out, const Array& a, const Array& b, double p);

/// grad_a[..., i, :] = the sum over j of grad[..., i, j] times the derivative of distance (i, j).
///
/// `found` contains the distances. `grad_a` is row-major (..., n, k). The derivative is 0 for order
/// 0, and where the distance is 0. For order infinity, each difference of the largest magnitude
/// contributes to the derivative.
void distances_backward(const Array& grad_a, const Array& grad, const Array& found, const Array& a,
                        const Array& b, double p);

}  // namespace tend::kernels
