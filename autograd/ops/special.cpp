// The gamma function's family, erfinv and logit: declared in math.h.
#include <tend/core/kernels/elementwise/special.h>

#include <limits>
#include <numbers>

#include <tend/autograd/ops/helpers.h>

namespace tend {

Tensor lgamma(const Tensor& self) {
  return record("LgammaBackward0", unary(self, kernels::lgamma), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * digamma(d.saved(0))); });
}
const Tensor& InPlace::lgamma_() const {
  return update("lgamma_", self(), tend::lgamma);
}

namespace {

Tensor polygamma(const char* operation, const char* node, std::int64_t n, const Tensor& self) {
  const auto kernel = [n](const Array& out, const Array& a) { kernels::polygamma(out, a, n); };
  return record(
      node, unary(self, kernel), {self}, {self},
      [n](Derivative& d) { d.set(0, d.grad() * polygamma(n + 1, d.saved(0))); }, operation);
}

}  // namespace

Tensor digamma(const Tensor& self) {
  return polygamma("digamma", "DigammaBackward0", 0, self);
}
const Tensor& InPlace::digamma_() const {
  return update("digamma_", self(), tend::digamma);
}

Tensor polygamma(std::int64_t n, const Tensor& self) {
  if (n < 0) fail("polygamma", "the order is ", n, ", not a number from 0 on");
  // Factorials overflow far below 1000, and n + 1 must be an order, too; even orders stay even.
  const std::int64_t order = n > 1000 ? 1000 + n % 2 : n;
  return polygamma("polygamma", "PolygammaBackward0", order, self);
}

const Tensor& InPlace::polygamma_(std::int64_t n) const {
  return in_place("polygamma_", self(), {}, [&](const Tensor& x) { return polygamma(n, x); });
}

Tensor erfinv(const Tensor& self) {
  return record("ErfinvBackward0", unary(self, kernels::erfinv), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  d.set(0, d.grad() * (0.5 / std::numbers::inv_sqrtpi) * exp(y * y));
                });
}
const Tensor& InPlace::erfinv_() const {
  return update("erfinv_", self(), tend::erfinv);
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool clamps = eps && !(*eps < 0);  // PyTorch's way to say that there is no eps
  const double least = clamps ? *eps : -infinity, most = clamps ? 1 - *eps : infinity;
  const auto kernel = [=](const Array& out, const Array& a) {
    kernels::logit(out, a, least, most);
  };
  return record("LogitBackward0", unary(self, kernel), {self}, {self}, [=](Derivative& d) {
    const double outside = clamps ? 0 : std::numeric_limits<double>::quiet_NaN();
    const double lo = clamps ? least : 0, hi = clamps ? most : 1;
    const Tensor x = d.saved(0);
    if (grad_enabled()) {
      const Tensor part = clamps ? clamp(x, lo, hi) : x;
      const Tensor slope = d.grad() / (part * (1 - part));
      d.set(0, masked_fill(slope, logical_or(x<lo, x> hi), outside));
    } else {
      d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
              kernels::logit_backward(out, grad, x.array(), lo, hi, outside);
            }));
    }
  });
}
const Tensor& InPlace::logit_(std::optional<double> eps) const {
  return update("logit_", self(), tend::logit, eps);
}

}  // namespace tend
