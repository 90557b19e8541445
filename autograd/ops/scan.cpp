#include <tend/autograd/ops/scan.h>

#include <limits>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/scan.h>

namespace tend {

namespace {

// Returns the sum of each element and all elements after it.
Tensor sum_back(const Tensor& x, std::int64_t dim) {
  return flip(cumsum(flip(x, dim), dim), dim);
}

}  // namespace

Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (dtype) return cumsum(to(self, *dtype), dim).to(*dtype);
  dim = wrap_dim("cumsum", dim, self.dim());
  Array out = Array::empty(self.shape(), kernels::sum_dtype(self.dtype()));
  kernels::cumsum(out, self.array(), dim);
  return record("CumsumBackward0", std::move(out), {self}, {},
                [dim](Derivative& d) { d.set(0, sum_back(d.grad(), dim)); });
}

const Tensor& InPlace::cumsum_(std::int64_t d, std::optional<DType> dtype) const {
  return update("cumsum_", self(), tend::cumsum, d, dtype);
}

namespace {

// Shifts x along `dim`: index k of the result is x[k + step], and zeros follow after the end.
Tensor shifted(const Tensor& x, std::int64_t dim, std::int64_t step) {
  const std::int64_t kept = x.size(dim) - step;
  const Tensor tail = narrow(x, dim, 0, step);
  return cat({narrow(x, dim, step, kept), zeros(tail.shape(), x.dtype())}, dim);
}

// Computes total[k] = term[k] + factor[k] * total[k + 1] along `dim`. The last factor is 0. Each
// round doubles the number of terms in every sum.
Tensor accumulate_back(Tensor term, Tensor factor, std::int64_t dim) {
  const std::int64_t length = term.size(dim);
  for (std::int64_t step = 1; step < length; step *= 2) {
    term = term + factor * shifted(term, dim, step);
    if (step * 2 < length) factor = factor * shifted(factor, dim, step);
  }
  return term;
}

// Computes the gradient of cumprod. If no element is zero, it is a quotient, as in PyTorch.
// Otherwise the gradient of element k is the product of the elements before k, times the sum of
// grad[i] * x[k + 1] * ... * x[i] over all i >= k.
Tensor cumprod_gradient(const Tensor& x, const Tensor& products, const Tensor& grad,
                        std::int64_t dim) {
  if (!any(x == 0).item<bool>()) return sum_back(grad * products, dim) / x;
  const std::int64_t length = x.size(dim);
  const Tensor one = ones_like(narrow(x, dim, 0, 1));
  const Tensor before = cat({one, cumprod(narrow(x, dim, 0, length - 1), dim)}, dim);
  Tensor after = accumulate_back(grad, shifted(x, dim, 1), dim);
  // Where `before` is 0, `after` may be infinite, and their product would be NaN. A second
  // derivative needs `after` even there, because the derivative of `before` is not 0.
  if (!grad_enabled()) after = masked_fill(after, before == 0, 0);
  return before * after;
}

}  // namespace

Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (dtype) return cumprod(to(self, *dtype), dim).to(*dtype);
  dim = wrap_dim("cumprod", dim, self.dim());
  Array out = Array::empty(self.shape(), kernels::sum_dtype(self.dtype()));
  kernels::cumprod(out, self.array(), dim);
  return record("CumprodBackward0", std::move(out), {self}, {self, kOutput}, [dim](Derivative& d) {
    const Tensor x = d.saved(0);
    d.set(0, x.dim() == 0 || x.numel() == 0 || x.size(dim) == 1
                 ? d.grad()
                 : cumprod_gradient(x, d.saved(1), d.grad(), dim));
  });
}

const Tensor& InPlace::cumprod_(std::int64_t d, std::optional<DType> dtype) const {
  return update("cumprod_", self(), tend::cumprod, d, dtype);
}

namespace {

// Computes grad[k] exp(x[k] - y[k]) + grad[k + 1] exp(x[k] - y[k + 1]) + ..., where
// y = logcumsumexp(x). Because y never decreases, no factor exp(y[k] - y[k + 1]) exceeds 1.
Tensor logcumsumexp_gradient(const Tensor& x, const Tensor& y, const Tensor& grad,
                             std::int64_t dim) {
  const std::int64_t length = x.size(dim);
  const Tensor nothing = y == -std::numeric_limits<double>::infinity();  // all so far are -inf
  const Tensor finite = masked_fill(y, nothing, 0);
  const Tensor from = narrow(finite, dim, 0, length - 1), to = narrow(finite, dim, 1, length - 1);
  // The difference of two infinite elements of y counts as 0.
  const Tensor infinite = from == std::numeric_limits<double>::infinity();
  const Tensor decay =
      masked_fill(exp(masked_fill(from - to, infinite, 0)), narrow(nothing, dim, 0, length - 1), 0);
  const Tensor factor = cat({decay, zeros_like(narrow(y, dim, 0, 1))}, dim);
  return exp(x - finite) * accumulate_back(grad, factor, dim);
}

ValuesAndIndices cumulative_extreme(const char* operation, const char* node, const Tensor& self,
                                    std::int64_t dim, bool largest) {
  dim = wrap_dim(operation, dim, self.dim());
  Array values = Array::empty(self.shape(), self.dtype());
  Array indices = Array::empty(self.shape(), int64);
  kernels::cumulative_extreme(values, indices, self.array(), dim, largest);
  return picked(node, self, std::move(values), std::move(indices), dim, true, operation);
}

}  // namespace

Tensor logcumsumexp(const Tensor& self, std::int64_t dim) {
  check_floating("logcumsumexp", self);
  dim = wrap_dim("logcumsumexp", dim, self.dim());
  Array out = Array::empty(self.shape(), self.dtype());
  kernels::logcumsumexp(out, self.array(), dim);
  return record("LogcumsumexpBackward0", std::move(out), {self}, {self, kOutput},
                [dim](Derivative& d) {
                  const Tensor x = d.saved(0);
                  d.set(0, x.dim() == 0 || x.numel() == 0
                               ? d.grad()
                               : logcumsumexp_gradient(x, d.saved(1), d.grad(), dim));
                });
}

ValuesAndIndices cummax(const Tensor& self, std::int64_t dim) {
  return cumulative_extreme("cummax", "CummaxBackward0", self, dim, true);
}
ValuesAndIndices cummin(const Tensor& self, std::int64_t dim) {
  return cumulative_extreme("cummin", "CumminBackward0", self, dim, false);
}

}  // namespace tend
