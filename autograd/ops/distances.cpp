#include <tend/autograd/ops/distances.h>

#include <cmath>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/reduce/distances.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {
namespace {

// The dimensions before the matrices, to which both inputs broadcast.
Shape common_batch(const Tensor& x1, const Tensor& x2) {
  return broadcast_shapes("cdist", leading_shape(x1.shape()), leading_shape(x2.shape()));
}

// grad / distance, and 0 where the distance is 0.
Tensor per_distance(const Tensor& grad, const Tensor& distance) {
  const Tensor is_zero = distance == 0;
  return masked_fill(grad / masked_fill(distance, is_zero, 1), is_zero, 0);
}

// |a - b|^2 = |a|^2 - 2 a b + |b|^2. One product computes all three terms.
Tensor euclidean_distances(const Tensor& x1, const Tensor& x2) {
  const auto squares = [](const Tensor& x) {
    const Array out = Array::empty(reduced_shape(x.shape(), {x.dim() - 1}, true), x.dtype());
    kernels::square_sum(out, x.array(), {x.dim() - 1});
    return Tensor(out);
  };
  const Tensor first = squares(x1), second = squares(x2);
  const Tensor left = cat({x1 * -2, first, ones_like(first)}, -1);
  const Tensor right = cat({x2, ones_like(second), second}, -1);
  return sqrt(clamp_min(matmul(left, transpose(right, -2, -1)), 0));
}

Tensor euclidean_cdist(const Tensor& x1, const Tensor& x2) {
  return record(
      "EuclideanDistBackward0", euclidean_distances(x1.detach(), x2.detach()).array(), {x1, x2},
      {x1, x2, kOutput},
      [](Derivative& d) {
        const Tensor a = d.saved(0), b = d.saved(1);
        const Tensor ratio = per_distance(d.grad(), d.saved(2));
        if (d.needs(0)) d.set(0, a * sum(ratio, -1, true) - matmul(ratio, b));
        if (!d.needs(1)) return;
        const Tensor columns = transpose(ratio, -2, -1);
        d.set(1, b * sum(columns, -1, true) - matmul(columns, a));
      },
      "cdist");
}

// The gradient of each difference, from the gradients of the distances.
Tensor difference_gradient(const Tensor& difference, const Tensor& grad, const Tensor& distance,
                           double p) {
  if (p == 2) return difference * per_distance(grad, distance);
  const Tensor slope = where(isnan(difference), difference, sign(difference));
  return p == 1 ? grad * slope : grad * where(abs(difference) == distance, slope, 0);
}

void composed_cdist_gradients(Derivative& d, double p) {
  const Tensor difference = unsqueeze(d.saved(0), -2) - unsqueeze(d.saved(1), -3);
  const Tensor gradient =
      difference_gradient(difference, unsqueeze(d.grad(), -1), unsqueeze(d.saved(2), -1), p);
  if (d.needs(0)) d.set(0, sum(gradient, -2));
  if (d.needs(1)) d.set(1, -sum(gradient, -3));
}

// Computes the same as composed_cdist_gradients, but without memory for all differences.
void fused_cdist_gradients(Derivative& d, double p) {
  const Array x1 = d.saved(0).array(), x2 = d.saved(1).array();
  const Array found = d.saved(2).array(), grad = d.grad().array();
  const auto gradient = [p](const Array& x, const Array& other, const Array& g, const Array& f) {
    Shape shape = g.shape();
    shape[shape.rank() - 1] = x.size(-1);
    Array out = Array::empty(shape, x.dtype());
    kernels::distances_backward(out, g.contiguous(), f.contiguous(), x, other, p);
    return Tensor(std::move(out));
  };
  if (d.needs(0)) d.set(0, gradient(x1, x2, grad, found));
  if (d.needs(1)) d.set(1, gradient(x2, x1, grad.transpose(-2, -1), found.transpose(-2, -1)));
}

Tensor measured_cdist(const Tensor& x1, const Tensor& x2, double p, const Shape& shape) {
  Array out = Array::empty(shape, x1.dtype());
  kernels::distances(out, x1.array(), x2.array(), p);
  return record(
      "CdistBackward0", std::move(out), {x1, x2}, {x1, x2, kOutput},
      [p](Derivative& d) {
        if (p == 0) {
          for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
            d.set(i, zeros_like(d.saved(i)));
        } else if (grad_enabled()) {
          composed_cdist_gradients(d, p);
        } else {
          fused_cdist_gradients(d, p);
        }
      },
      "cdist");
}

}  // namespace

Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
  check_one_dtype("cdist", x1, x2);
  check_floating("cdist", x1);
  if (x1.dim() < 2 || x2.dim() < 2 || x1.size(-1) != x2.size(-1)) {
    fail<ShapeError>("cdist", "needs rows of one length, got ", x1.shape(), " and ", x2.shape());
  }
  if (!(p >= 0)) fail("cdist", "the order of the norm is ", p, ", which must be at least 0");
  const std::int64_t rows = x1.size(-2), columns = x2.size(-2);
  const Shape shape = with_matrix(common_batch(x1, x2), rows, columns);
  constexpr std::int64_t kFewRows = 25;  // PyTorch's limit
  const bool some = element_count(shape) > 0 && x1.size(-1) > 0;
  if (p == 2 && some && std::max(rows, columns) > kFewRows) return euclidean_cdist(x1, x2);
  if (kernels::has_distance_kernel(p)) return measured_cdist(x1, x2, p, shape);
  const Tensor differences = unsqueeze(x1, -2) - unsqueeze(x2, -3);
  return x1.size(-1) == 0 ? sum(differences, {-1}) : norm(differences, p, {-1});
}

}  // namespace tend
