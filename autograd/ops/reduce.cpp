#include <tend/autograd/ops/reduce.h>

#include <algorithm>
#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/statistics.h>

namespace tend {
namespace {

// Runs a reduction kernel over `dims`, which are not negative.
template <class Kernel>
Array reduce(Kernel kernel, const Tensor& self, const Shape& dims, bool keepdim, DType dtype) {
  Array out = Array::empty(reduced_shape(self.shape(), dims, keepdim), dtype);
  kernel(out, self.array(), dims);
  return out;
}

}  // namespace

Tensor sum(const Tensor& self, const Dims& dims, Flag keepdim, std::optional<DType> dtype) {
  const Shape reduced = wrap_dims("sum", dims, self.dim());
  if (dtype == int64) return constant(reduce(kernels::sum, self, reduced, keepdim, int64), {self});
  if (dtype) return sum(to(self, *dtype), dims, keepdim).to(*dtype);
  Array out = reduce(kernels::sum, self, reduced, keepdim, kernels::sum_dtype(self.dtype()));
  return record(dims.empty() ? "SumBackward0" : "SumBackward1", std::move(out), {self}, {},
                [shape = self.shape(), reduced](Derivative& d) {
                  d.set(0, expand(restore_dims(d.grad(), shape, reduced), shape));
                });
}
Tensor sum(const Tensor& self, Exactly<DType> dtype) {
  return sum(self, {}, false, dtype);
}

Tensor mean(const Tensor& self, const Dims& dims, Flag keepdim, std::optional<DType> dtype) {
  if (dtype) return mean(to(self, *dtype), dims, keepdim);
  const Shape reduced = wrap_dims("mean", dims, self.dim());
  Array out = reduce(kernels::mean, self, reduced, keepdim, self.dtype());
  return record(dims.empty() ? "MeanBackward0" : "MeanBackward1", std::move(out), {self}, {},
                [shape = self.shape(), reduced](Derivative& d) {
                  const Tensor share = d.grad() / reduced_count(shape, reduced);
                  d.set(0, expand(restore_dims(share, shape, reduced), shape));
                });
}
Tensor mean(const Tensor& self, Exactly<DType> dtype) {
  return mean(self, {}, false, dtype);
}

namespace {

// Returns the product of each element and all elements before it (after it if `reverse`) along the
// last dimension. The step doubles in each round, so log2(n) rounds are enough.
Tensor running_product(Tensor x, bool reverse) {
  const std::int64_t n = x.size(-1);
  for (std::int64_t step = 1; step < n; step *= 2) {
    const Tensor front = narrow(x, -1, 0, n - step), back = narrow(x, -1, step, n - step);
    const Tensor products = front * back;
    x = reverse ? cat({products, narrow(x, -1, n - step, step)}, -1)
                : cat({narrow(x, -1, 0, step), products}, -1);
  }
  return x;
}

// Returns for each element along the last dimension the product of the others. It does not divide,
// so elements may be zero. It computes in float64, because partial products may be outside
// float32's range.
Tensor product_of_others(const Tensor& self) {
  const Tensor x = to(self, float64);
  const std::int64_t n = x.size(-1);
  Shape end = x.shape();
  end[end.rank() - 1] = 1;
  const Tensor one = ones(end, x.dtype());
  const Tensor before = cat({one, narrow(running_product(x, false), -1, 0, n - 1)}, -1);
  const Tensor after = cat({narrow(running_product(x, true), -1, 1, n - 1), one}, -1);
  return to(before * after, self.dtype());
}

// Returns for each element the product of the others over several dimensions.
Tensor product_of_others(const Tensor& x, const Shape& dims) {
  Shape order;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  }
  for (const std::int64_t d : dims) order.push_back(d);
  const Tensor moved = permute(x, order);
  Shape rows(std::span(moved.shape().begin(), x.shape().size() - dims.size()));
  rows.push_back(reduced_count(x.shape(), dims));
  return permute(reshape(product_of_others(reshape(moved, rows)), moved.shape()),
                 inverse_permutation(order));
}

// Computes the gradient of x by divisions if some elements are zero. The gradient of an element is
// zero if another element of the product is zero. `zeros` has the number of zeros in each product.
//
// Returns an undefined tensor if a product of the nonzero elements overflows, loses digits because
// it is small, or is NaN. It computes in float64, so this is rare for float32 elements.
Tensor divided_gradient(const Tensor& x, const Tensor& zeros, const Tensor& grad,
                        const Shape& dims) {
  if (min(zeros).item<std::int64_t>() > 1) return zeros_like(x);
  const Tensor is_zero = x == 0, others = to(masked_fill(x, is_zero, 1), float64);
  const Tensor products = prod(others, dims, true);
  const Tensor sizes = abs(products);
  const double least = std::numeric_limits<double>::min();
  if (!all(logical_and(isfinite(products), sizes >= least)).item<bool>()) return {};
  return masked_fill(grad * to(products / others, x.dtype()),
                     to(is_zero, x.dtype()) != to(zeros, x.dtype()), 0);
}

}  // namespace

Tensor prod(const Tensor& self, const Dims& dims, Flag keepdim, std::optional<DType> dtype) {
  if (dtype) return prod(to(self, *dtype), dims, keepdim).to(*dtype);
  const Shape reduced = wrap_dims("prod", dims, self.dim());
  Array out = reduce(kernels::prod, self, reduced, keepdim, kernels::sum_dtype(self.dtype()));
  return record(dims.empty() ? "ProdBackward0" : "ProdBackward1", std::move(out), {self},
                {self, kOutput}, [reduced](Derivative& d) {
                  const Tensor x = d.saved(0);
                  const Tensor g = restore_dims(d.grad(), x.shape(), reduced);
                  const Tensor zeros = sum(x == 0, reduced, true);
                  Tensor gradient;
                  if (x.numel() == 0) {
                    gradient = zeros_like(x);
                  } else if (x.dim() == 0) {
                    gradient = g;
                  } else if (!any(zeros).item<bool>()) {
                    gradient = g * (restore_dims(d.saved(1), x.shape(), reduced) / x);
                  } else if (!grad_enabled()) {
                    gradient = divided_gradient(x, zeros, g, reduced);
                  }
                  d.set(0, gradient.defined() ? gradient : g * product_of_others(x, reduced));
                });
}
Tensor prod(const Tensor& self, Exactly<DType> dtype) {
  return prod(self, {}, false, dtype);
}

namespace {

// Returns the divisor in the derivative of a variance. As in PyTorch, it may be negative if
// dimensions were given, although the variance is infinite then.
double degrees_of_freedom(const Shape& input, const Shape& dims, double correction, bool is_whole) {
  const double freedom = static_cast<double>(reduced_count(input, dims)) - correction;
  return is_whole ? std::max(0.0, freedom) : freedom;
}

// Computes the gradient of x. `grad` is the cotangent of its variance, with the reduced dimensions
// restored. `is_whole` is true if no dimensions were given.
Tensor var_gradient(const Tensor& x, const Tensor& grad, const Shape& dims, double correction,
                    bool is_whole) {
  const Tensor middle = mean(x, dims, true);
  const double freedom = degrees_of_freedom(x.shape(), dims, correction, is_whole);
  if (freedom > 0 || !is_whole) return scaled_distance(grad * (2 / freedom), x, middle);
  const Tensor distance = x - middle;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return grad * masked_fill(full_like(x, infinity), distance == 0, nan);
}

Array variance(const char* operation, const Tensor& self, const Shape& dims, double correction,
               bool keepdim, DType dtype) {
  check_floating(operation, self);
  const auto kernel = [=](const Array& out, const Array& a, const Shape& reduced) {
    kernels::var(out, a, reduced, correction);
  };
  return reduce(kernel, self, dims, keepdim, dtype);
}

}  // namespace

Tensor var(const Tensor& self, const Dims& dims, std::optional<double> given, Flag keepdim) {
  const double correction = given.value_or(1);
  const Shape reduced = wrap_dims("var", dims, self.dim());
  const bool is_whole = dims.empty() || self.dim() == 0;
  return record("VarBackward0", variance("var", self, reduced, correction, keepdim, self.dtype()),
                {self}, {self}, [=](Derivative& d) {
                  const Tensor x = d.saved(0);
                  const Tensor g = restore_dims(d.grad(), x.shape(), reduced);
                  d.set(0, var_gradient(x, g, reduced, correction, is_whole));
                });
}

Tensor var(const Tensor& self, Flag unbiased) {
  return var(self, {}, unbiased ? 1 : 0);
}
Tensor std(const Tensor& self, Flag unbiased) {
  return std(self, {}, unbiased ? 1 : 0);
}

Tensor std(const Tensor& self, const Dims& dims, std::optional<double> given, Flag keepdim) {
  const double correction = given.value_or(1);
  const Shape reduced = wrap_dims("std", dims, self.dim());
  const bool is_whole = dims.empty() || self.dim() == 0;
  // The variance is float64, because the square of a float32 deviation may not fit float32.
  Array out = variance("std", self, reduced, correction, keepdim, float64);
  kernels::sqrt(out, out);
  out = out.to(self.dtype());
  return record("StdBackward0", std::move(out), {self}, {self, kOutput}, [=](Derivative& d) {
    const Tensor x = d.saved(0);
    const Tensor deviation = restore_dims(d.saved(1), x.shape(), reduced);
    const Tensor g = restore_dims(d.grad(), x.shape(), reduced);
    const double freedom = degrees_of_freedom(x.shape(), reduced, correction, is_whole);
    // Where all elements are equal, the gradient is zero by convention, and so is its derivative.
    const Tensor equal = deviation == 0;
    const Tensor factor = masked_fill(g / freedom, equal, 0) / masked_fill(deviation, equal, 1);
    d.set(0, scaled_distance(factor, x, mean(x, reduced, true)));
  });
}

Tensor any(const Tensor& self, const Dims& dims, Flag keepdim) {
  const Shape reduced = wrap_dims("any", dims, self.dim());
  return constant(reduce(kernels::any, self, reduced, keepdim, boolean), {self});
}

Tensor all(const Tensor& self, const Dims& dims, Flag keepdim) {
  const Shape reduced = wrap_dims("all", dims, self.dim());
  return constant(reduce(kernels::all, self, reduced, keepdim, boolean), {self});
}

Tensor sum_to_size(const Tensor& self, const Shape& shape) {
  if (self.shape() == shape) return self;
  if (!broadcasts_to(shape, self.shape())) {
    fail<ShapeError>("sum_to_size", shape, " does not broadcast to ", self.shape());
  }
  const std::int64_t fresh = self.dim() - shape.rank();
  Shape dims;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d < fresh || (shape[d - fresh] == 1 && self.shape()[d] != 1)) dims.push_back(d);
  }
  return view(sum(self, dims, true), shape);
}

std::pair<Tensor, Tensor> var_mean(const Tensor& self, const Dims& dims,
                                   std::optional<double> correction, Flag keepdim) {
  return {var(self, dims, correction, keepdim), mean(self, dims, keepdim)};
}
std::pair<Tensor, Tensor> std_mean(const Tensor& self, const Dims& dims,
                                   std::optional<double> correction, Flag keepdim) {
  return {std(self, dims, correction, keepdim), mean(self, dims, keepdim)};
}

Tensor nansum(const Tensor& self, const Dims& dims, Flag keepdim, std::optional<DType> dtype) {
  const DType wanted = dtype.value_or(self.dtype());
  const bool widens = self.dtype() == float32 && wanted == float64;
  if (dtype && !widens && wanted != self.dtype())
    return nansum(to(self, wanted), dims, keepdim).to(wanted);
  if (!is_floating(self.dtype())) return sum(self, dims, keepdim, dtype);
  const Shape reduced = wrap_dims("nansum", dims, self.dim());
  return record("NansumBackward0", reduce(kernels::number_sum, self, reduced, keepdim, wanted),
                {self}, {self}, [reduced](Derivative& d) {
                  const Tensor x = d.saved(0);
                  const Tensor g = expand(restore_dims(d.grad(), x.shape(), reduced), x.shape());
                  d.set(0, where(isnan(x), 0, g));
                });
}

Tensor nanmean(const Tensor& self, const Dims& dims, Flag keepdim, std::optional<DType> dtype) {
  check_floating("nanmean", self);
  const Tensor is_number = logical_not(isnan(self));
  return nansum(self, dims, keepdim, dtype) / sum(is_number, dims, keepdim);
}

Tensor count_nonzero(const Tensor& self, const Dims& dims) {
  return sum(self != 0, dims);
}

Tensor max(const Tensor& self, const Tensor& other) {
  return maximum(self, other);
}
Tensor min(const Tensor& self, const Tensor& other) {
  return minimum(self, other);
}

}  // namespace tend
