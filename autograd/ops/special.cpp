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

Tensor logit(const Tensor& self, std::optional<double> eps) try {
  const Tensor x = to(self, to_floating(self.dtype()));
  const auto clamped = [eps](const Tensor& a) { return eps ? clamp(a, *eps, 1 - *eps) : a; };
  const double lo = eps.value_or(0), hi = 1 - lo;
  check_holds("logit", x.dtype(), lo);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor result = computed(kernels::Formula::logit,
                                 {eps ? lo : -kInfinity, eps ? hi : kInfinity}, x.dtype(), x);
  return record("LogitBackward0", result.array(), {x}, {x}, [=](Derivative& d) {
    const double outside = eps ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (!grad_enabled())
      return d.set(0, sloped(d, kernels::PairFormula::logit_backward, {lo, hi, outside}));
    const Tensor at = d.saved(0), part = clamped(at);
    d.set(0, masked_fill(d.grad() / (part * (1 - part)), logical_or(at<lo, at> hi), outside));
  });
} catch (const Error&) {
  rename_error("logit");
}
const Tensor& InPlace::logit_(std::optional<double> eps) const {
  return update("logit_", self(), tend::logit, eps);
}

}  // namespace tend
