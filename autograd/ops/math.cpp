#include <tend/autograd/ops/math.h>

#include <limits>
#include <numbers>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/elementwise/special.h>

namespace tend {
namespace {

// Returns 1 / sqrt(1 - x^2) without the cancellation near -1 and 1. Its derivative,
// x / sqrt(1 - x^2)^3, is given directly because the derivatives of the two factors would cancel
// near 0.
Tensor arc_slope(const Tensor& self) {
  const Tensor x = self.detach();
  return record(
      "RsqrtBackward0", rsqrt((1 - x) * (1 + x)).array(), {self}, {self, kOutput},
      [](Derivative& d) {
        const Tensor y = d.saved(1);
        d.set(0, d.grad() * (d.saved(0) * (y * y * y)));
      },
      "rsqrt");
}

// grad / (x^2 + y^2)
Tensor over_radius(const Tensor& grad, const Tensor& at_y, const Tensor& at_x) {
  const Tensor y = to(at_y, grad.dtype()), x = to(at_x, grad.dtype());
  return grad * reciprocal(x * x + y * y);
}

// Integers need no rounding.
void rounded(const char* operation, void (*kernel)(const Array& out, const Array& a),
             const Array& out, const Array& a) {
  if (a.dtype() == boolean) fail<DTypeError>(operation, "a bool tensor cannot be rounded");
  if (a.dtype() == int64) return out.copy_from(a);
  kernel(out, a);
}
void floor_kernel(const Array& out, const Array& a) {
  rounded("floor", kernels::floor, out, a);
}
void ceil_kernel(const Array& out, const Array& a) {
  rounded("ceil", kernels::ceil, out, a);
}
void round_kernel(const Array& out, const Array& a) {
  rounded("round", kernels::round, out, a);
}
void trunc_kernel(const Array& out, const Array& a) {
  rounded("trunc", kernels::trunc, out, a);
}

void entr_kernel(const Array& out, const Array& x) {
  kernels::compute("entr", kernels::Formula::entr, {}, out, x);
}

void digamma_kernel(const Array& out, const Array& a) {
  kernels::polygamma(out, a, 0);
}

}  // namespace

#define TEND_TABLE <tend/autograd/ops/math_table.h>
#define TEND_ROWS_DEFINE
#include <tend/autograd/ops/row_forms.h>

namespace {

Tensor round(const Form& form, const Tensor& self, std::int64_t decimals) {
  if (decimals == 0) return run_row(form, round_row, self);
  check_floating(form.operation, self);
  const auto kernel = [decimals](const Array& out, const Array& a) {
    kernels::round_decimals(out, a, decimals);
  };
  return elementwise(form, "RoundBackward1", self.dtype(), kernel, {}, zero_gradient, self);
}

}  // namespace

Tensor round(const Tensor& self, std::int64_t decimals) {
  return round({"round"}, self, decimals);
}
const Tensor& InPlace::round_(std::int64_t decimals) const {
  return in_place_form("round_", self(), [&](const Form& form) { round(form, self(), decimals); });
}

Tensor logaddexp(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return elementwise(
      {"logaddexp"}, "LogaddexpBackward0", dtype, kernels::logaddexp, {self, other},
      [](Derivative& d) {
        const Tensor difference = d.saved(0) - d.saved(1);
        if (d.needs(0)) d.set(0, d.grad() * sigmoid(difference));
        if (d.needs(1)) d.set(1, d.grad() * sigmoid(-difference));
      },
      self, other);
}

namespace {

Tensor polygamma(const Form& form, std::int64_t n, const Tensor& self) {
  if (n < 0) fail(form.operation, "the order is ", n, ", which must be at least 0");
  // Factorials overflow far below n = 1000, so larger orders give the same results. They are
  // reduced to 1000 or 1001, so that the derivative's order n + 1 cannot overflow. Even orders stay
  // even.
  const std::int64_t order = n > 1000 ? 1000 + n % 2 : n;
  const auto kernel = [order](const Array& out, const Array& a) {
    kernels::polygamma(out, a, order);
  };
  return elementwise(
      form, "PolygammaBackward0", to_floating(self.dtype()), kernel, {self},
      [order](Derivative& d) { d.set(0, d.grad() * tend::polygamma(order + 1, d.saved(0))); },
      self);
}

}  // namespace

Tensor polygamma(std::int64_t n, const Tensor& self) {
  return polygamma({"polygamma"}, n, self);
}
const Tensor& InPlace::polygamma_(std::int64_t n) const {
  return in_place_form("polygamma_", self(), [&](const Form& form) { polygamma(form, n, self()); });
}

namespace {

Tensor logit(const Form& form, const Tensor& self, std::optional<double> eps) {
  const DType dtype = to_floating(self.dtype());
  const bool clamps = eps && !(*eps < 0);  // as in PyTorch, a negative eps means no eps
  const double lo = clamps ? *eps : 0, hi = 1 - lo;
  check_holds(form.operation, dtype, lo);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const kernels::Parameters bounds{clamps ? lo : -kInfinity, clamps ? hi : kInfinity};
  const auto kernel = [&](const Array& out, const Array& x) {
    kernels::compute("logit", kernels::Formula::logit, bounds, out, x);
  };
  return elementwise(
      form, "LogitBackward0", dtype, kernel, {self},
      [=](Derivative& d) {
        const double outside = clamps ? 0 : std::numeric_limits<double>::quiet_NaN();
        if (!grad_enabled())
          return d.set(0, sloped(d, kernels::PairFormula::logit_backward, {lo, hi, outside}));
        const Tensor at = d.saved(0), part = clamps ? clamp(at, lo, hi) : at;
        d.set(0, masked_fill(d.grad() / (part * (1 - part)), logical_or(at<lo, at> hi), outside));
      },
      self);
}

}  // namespace

Tensor logit(const Tensor& self, std::optional<double> eps) {
  return logit({"logit"}, self, eps);
}
const Tensor& InPlace::logit_(std::optional<double> eps) const {
  return in_place_form("logit_", self(), [&](const Form& form) { logit(form, self(), eps); });
}

}  // namespace tend
