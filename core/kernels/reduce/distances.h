// Distances between all rows of two matrices.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Whether distances and their gradients have a kernel: the norms of order 0, 1, 2 and infinity.
bool has_distance_kernel(double p) noexcept;

// One floating dtype; a (..., n, k) and b (..., m, k) broadcast to the leading dimensions of the
// row-major (..., n, m) arrays. Sums of k terms are off by at most (k / 2 + 4) / 2 ulp of the sum
// of their sizes (the narrowest vectors have two lanes of float64), without vectors k / 2.

/// out[..., i, j] = norm(a[..., i, :] - b[..., j, :], p); NaN where there is one.
void distances(const Array& out, const Array& a, const Array& b, double p);

/// grad_a[..., i, :] = the sum over j of grad[..., i, j] times the derivative of that distance,
/// which `found` holds: 0 for order 0 and where the distance is 0. All of the largest differences
/// count for order infinity. `grad_a` is row-major (..., n, k).
void distances_backward(const Array& grad_a, const Array& grad, const Array& found, const Array& a,
                        const Array& b, double p);

}  // namespace tend::kernels
