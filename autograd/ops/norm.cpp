#include <tend/autograd/ops/norm.h>

#include <cmath>
#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/statistics.h>

namespace tend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

Tensor logsumexp(const Tensor& self, const Dims& dims, Flag keepdim) {
  const Shape reduced = wrap_dims("logsumexp", dims, self.dim());
  const Tensor x = to(self.detach(), to_floating(self.dtype()));
  Array out = Array::empty(reduced_shape(x.shape(), reduced, keepdim), x.dtype());
  kernels::log_sum_exp(out, x.array(), reduced);
  return record(
      "LogsumexpBackward0", std::move(out), {self}, {self, kOutput}, [reduced](Derivative& d) {
        const Tensor input = d.saved(0);
        const Tensor total = restore_dims(d.saved(1), input.shape(), reduced);
        const Tensor grad = restore_dims(d.grad(), input.shape(), reduced);
        if (grad_enabled()) return d.set(0, grad * exp(input - total));
        d.set(0,
              computed(kernels::TripleFormula::scaled_power, {}, grad.dtype(), grad, input, total));
      });
}

namespace {

// If the sum of powers is too large or too small for the dtype, the elements are first divided by
// the largest one (the smallest for p < 0), which dominates the sum.
Tensor norm_of_powers(const Tensor& x, double p, const Shape& dims, bool keepdim) {
  const auto norm = [&](const Tensor& sizes) {
    return pow(sum(pow(sizes, p), dims, keepdim), 1 / p);
  };
  const Tensor sizes = abs(x), plain = norm(sizes);
  const Tensor fails = logical_or(plain == 0, isinf(plain));
  if (x.numel() == 0 || !any(fails).item<bool>()) return plain;
  const Dims all(dims);
  const Tensor most = p > 0 ? amax(sizes, all, true) : amin(sizes, all, true);
  const Tensor unit = masked_fill(most, logical_or(most == 0, isinf(most)), 1);
  const Tensor result = norm(sizes / unit) * view(unit, plain.shape());
  return where(fails, result, plain);
}

Tensor norm_of(const Tensor& x, double p, const Shape& dims, bool keepdim) {
  const auto reduced = [&](auto kernel) {
    Array out = Array::empty(reduced_shape(x.shape(), dims, keepdim), x.dtype());
    kernel(out, x.array(), dims);
    return constant(std::move(out), {x}, "norm");
  };
  if (p == 0) return reduced(kernels::nonzero_count);
  if (p == 1) return reduced(kernels::absolute_sum);
  if (p == 2) {
    return sqrt(reduced([](const auto&... arrays) { kernels::square_sum(arrays...); }));
  }
  if (p == kInf) return reduced(kernels::largest_magnitude);
  if (p == -kInf) return reduced(kernels::smallest_magnitude);
  return norm_of_powers(x, p, dims, keepdim);
}

// Computes the gradient of x from the gradient of its largest or smallest absolute value. The
// elements with this absolute value share the gradient equally. If the value is NaN, the NaN
// elements share the gradient; they are found by isnan because NaN does not equal itself.
Tensor extreme_gradient(const Tensor& grad, const Tensor& x, const Tensor& size,
                        const Shape& dims) {
  if (!grad_enabled()) {
    const Tensor chosen = computed(kernels::PairFormula::has_magnitude, {}, x.dtype(), x, size);
    const Tensor share = grad / sum(chosen, dims, true);
    return computed(kernels::TripleFormula::signed_where_magnitude, {}, x.dtype(), share, x, size);
  }
  const Tensor chosen = logical_or(abs(x) == size, logical_and(isnan(x), isnan(size)));
  const Tensor mask = to(chosen, x.dtype());
  return grad * (sign(x) * mask / sum(mask, dims, true));
}

// Computes the gradient of x from the gradient of its norm, `size`. Both have their reduced
// dimensions restored.
Tensor norm_gradient(const Tensor& grad, const Tensor& x, const Tensor& size, double p,
                     const Shape& dims) {
  if (p == 1) return grad * sign(x);
  if (std::isinf(p)) return extreme_gradient(grad, x, size, dims);
  // 0 / 0 counts as 0 here, and also in the derivatives of this function.
  const Tensor is_zero = size == 0;
  if (p == 2) return grad * (x / masked_fill(size, is_zero, kInf));
  const Tensor divisor = masked_fill(size, is_zero, 1);
  if (p < 1) {
    const Tensor power = sign(x) * pow(masked_fill(abs(x), x == 0, 1), p - 1);
    return grad * (power * pow(size, 1 - p));
  }
  const Tensor share = where(x == 0, 1, abs(x) / divisor);
  return masked_fill(grad, is_zero, 0) * (sign(x) * pow(share, p - 1));
}

}  // namespace

Tensor norm(const Tensor& self, std::optional<double> order, const Dims& dims, Flag keepdim,
            std::optional<DType> dtype) {
  if (dtype) return norm(to(self, *dtype), order, dims, keepdim);
  check_floating("norm", self);
  double p = order.value_or(2);
  if (self.dtype() == float32 && std::isinf(static_cast<float>(p))) p = p < 0 ? -kInf : kInf;
  const Shape reduced = wrap_dims("norm", dims, self.dim());
  for (const std::int64_t d : reduced) {
    if (self.size(d) == 0 && (p < 0 || p == kInf)) {
      fail<ShapeError>("norm", "the norm of order ", p, " needs elements: dimension ", d, " of ",
                       self.shape(), " is empty");
    }
  }
  const Tensor out = norm_of(self.detach(), p, reduced, keepdim);
  if (p == 0)  // a count of elements: the gradient is 0 even for an infinite or NaN cotangent
    return record(
        "LinalgVectorNormBackward0", out.array(), {self}, {},
        [shape = self.shape()](Derivative& d) { d.set(0, zeros(shape, d.grad().dtype())); });
  return record("LinalgVectorNormBackward0", out.array(), {self}, {self, kOutput},
                [p, reduced](Derivative& d) {
                  const Tensor x = d.saved(0);
                  const Tensor grad = restore_dims(d.grad(), x.shape(), reduced);
                  const Tensor size = restore_dims(d.saved(1), x.shape(), reduced);
                  d.set(0, norm_gradient(grad, x, size, p, reduced));
                });
}

Tensor normalize(const Tensor& self, double p, std::int64_t dim, double eps) {
  return self / clamp_min(norm(self, p, {dim}, true), eps);
}

}  // namespace tend
