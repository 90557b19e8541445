#include <tend/autograd/ops/math.h>

#include <numbers>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/elementwise/special.h>

namespace tend {

Tensor exp(const Tensor& self) {
  return record("ExpBackward0", unary(self, kernels::exp), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() * d.saved(0)); });
}
const Tensor& InPlace::exp_() const {
  return update("exp_", self(), tend::exp);
}

Tensor exp2(const Tensor& self) {
  return record("Exp2Backward0", unary(self, kernels::exp2), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() * d.saved(0) * std::numbers::ln2); });
}
const Tensor& InPlace::exp2_() const {
  return update("exp2_", self(), tend::exp2);
}

Tensor expm1(const Tensor& self) {
  return record("Expm1Backward0", unary(self, kernels::expm1), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() * (d.saved(0) + 1)); });
}
const Tensor& InPlace::expm1_() const {
  return update("expm1_", self(), tend::expm1);
}

Tensor log(const Tensor& self) {
  return record("LogBackward0", unary(self, kernels::log), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() / d.saved(0)); });
}
const Tensor& InPlace::log_() const {
  return update("log_", self(), tend::log);
}

Tensor log2(const Tensor& self) {
  return record("Log2Backward0", unary(self, kernels::log2), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() / (d.saved(0) * std::numbers::ln2)); });
}
const Tensor& InPlace::log2_() const {
  return update("log2_", self(), tend::log2);
}

Tensor log10(const Tensor& self) {
  return record("Log10Backward0", unary(self, kernels::log10), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() / (d.saved(0) * std::numbers::ln10)); });
}
const Tensor& InPlace::log10_() const {
  return update("log10_", self(), tend::log10);
}

Tensor log1p(const Tensor& self) {
  return record("Log1PBackward0", unary(self, kernels::log1p), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() / (d.saved(0) + 1)); });
}
const Tensor& InPlace::log1p_() const {
  return update("log1p_", self(), tend::log1p);
}

Tensor sqrt(const Tensor& self) {
  return record("SqrtBackward0", unary(self, kernels::sqrt), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() / (2 * d.saved(0))); });
}
const Tensor& InPlace::sqrt_() const {
  return update("sqrt_", self(), tend::sqrt);
}

Tensor rsqrt(const Tensor& self) {
  return record("RsqrtBackward0", unary(self, kernels::rsqrt), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  d.set(0, -0.5 * d.grad() * (y * y * y));
                });
}
const Tensor& InPlace::rsqrt_() const {
  return update("rsqrt_", self(), tend::rsqrt);
}

Tensor sin(const Tensor& self) {
  return record("SinBackward0", unary(self, kernels::sin), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * cos(d.saved(0))); });
}
const Tensor& InPlace::sin_() const {
  return update("sin_", self(), tend::sin);
}

Tensor cos(const Tensor& self) {
  return record("CosBackward0", unary(self, kernels::cos), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * -sin(d.saved(0))); });
}
const Tensor& InPlace::cos_() const {
  return update("cos_", self(), tend::cos);
}

Tensor tan(const Tensor& self) {
  return record("TanBackward0", unary(self, kernels::tan), {self}, {kOutput}, [](Derivative& d) {
    const Tensor y = d.saved(0);
    d.set(0, d.grad() * (1 + y * y));
  });
}
const Tensor& InPlace::tan_() const {
  return update("tan_", self(), tend::tan);
}

namespace {

// 1 / sqrt(1 - x^2), without the cancellation near -1 and 1. Its derivative, x / sqrt(1 - x^2)^3,
// is given directly: the derivatives of the two factors would cancel near 0.
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

}  // namespace

Tensor asin(const Tensor& self) {
  return record("AsinBackward0", unary(self, kernels::asin), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * arc_slope(d.saved(0))); });
}
const Tensor& InPlace::asin_() const {
  return update("asin_", self(), tend::asin);
}

Tensor acos(const Tensor& self) {
  return record("AcosBackward0", unary(self, kernels::acos), {self}, {self},
                [](Derivative& d) { d.set(0, -d.grad() * arc_slope(d.saved(0))); });
}
const Tensor& InPlace::acos_() const {
  return update("acos_", self(), tend::acos);
}

Tensor atan(const Tensor& self) {
  return record("AtanBackward0", unary(self, kernels::atan), {self}, {self}, [](Derivative& d) {
    const Tensor x = d.saved(0);
    d.set(0, d.grad() / (x * x + 1));
  });
}
const Tensor& InPlace::atan_() const {
  return update("atan_", self(), tend::atan);
}

Tensor sinh(const Tensor& self) {
  return record("SinhBackward0", unary(self, kernels::sinh), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * cosh(d.saved(0))); });
}
const Tensor& InPlace::sinh_() const {
  return update("sinh_", self(), tend::sinh);
}

Tensor cosh(const Tensor& self) {
  return record("CoshBackward0", unary(self, kernels::cosh), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * sinh(d.saved(0))); });
}
const Tensor& InPlace::cosh_() const {
  return update("cosh_", self(), tend::cosh);
}

Tensor tanh(const Tensor& self) {
  return record("TanhBackward0", unary(self, kernels::tanh), {self}, {kOutput}, [](Derivative& d) {
    const Tensor y = d.saved(0);
    if (grad_enabled()) {
      d.set(0, d.grad() * (1 - y * y));
    } else {
      d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
              kernels::tanh_backward(out, grad, y.array());
            }));
    }
  });
}
const Tensor& InPlace::tanh_() const {
  return update("tanh_", self(), tend::tanh);
}

Tensor sigmoid(const Tensor& self) {
  return record("SigmoidBackward0", unary(self, kernels::sigmoid), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  if (grad_enabled()) {
                    d.set(0, d.grad() * (1 - y) * y);
                  } else {
                    d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
                            kernels::sigmoid_backward(out, grad, y.array());
                          }));
                  }
                });
}
const Tensor& InPlace::sigmoid_() const {
  return update("sigmoid_", self(), tend::sigmoid);
}

Tensor erf(const Tensor& self) {
  return record("ErfBackward0", unary(self, kernels::erf), {self}, {self}, [](Derivative& d) {
    const Tensor x = d.saved(0);
    d.set(0, d.grad() * (2 * std::numbers::inv_sqrtpi) * exp(-(x * x)));
  });
}
const Tensor& InPlace::erf_() const {
  return update("erf_", self(), tend::erf);
}

Tensor erfc(const Tensor& self) {
  return record("ErfcBackward0", unary(self, kernels::erfc), {self}, {self}, [](Derivative& d) {
    const Tensor x = d.saved(0);
    d.set(0, d.grad() * (-2 * std::numbers::inv_sqrtpi) * exp(-(x * x)));
  });
}
const Tensor& InPlace::erfc_() const {
  return update("erfc_", self(), tend::erfc);
}

namespace {

template <class Kernel>
Tensor rounded(const char* operation, const char* name, const Tensor& self, Kernel kernel) {
  if (self.dtype() == boolean) fail<DTypeError>(operation, "a bool tensor cannot be rounded");
  if (self.dtype() == int64) return clone(self);
  return record(name, unary(self, kernel), {self}, {}, zero_gradient, operation);
}

}  // namespace

Tensor floor(const Tensor& self) {
  return rounded("floor", "FloorBackward0", self, kernels::floor);
}
const Tensor& InPlace::floor_() const {
  return update("floor_", self(), tend::floor);
}
Tensor ceil(const Tensor& self) {
  return rounded("ceil", "CeilBackward0", self, kernels::ceil);
}
const Tensor& InPlace::ceil_() const {
  return update("ceil_", self(), tend::ceil);
}
Tensor round(const Tensor& self) {
  return rounded("round", "RoundBackward0", self, kernels::round);
}
Tensor round(const Tensor& self, std::int64_t decimals) {
  if (decimals == 0) return round(self);
  check_floating("round", self);
  const auto kernel = [decimals](const Array& out, const Array& a) {
    kernels::round_decimals(out, a, decimals);
  };
  return record("RoundBackward1", unary(self, kernel), {self}, {}, zero_gradient);
}
const Tensor& InPlace::round_(std::int64_t decimals) const {
  return update("round_", self(), tend::round, decimals);
}
const Tensor& InPlace::round_() const {
  return update("round_", self(), tend::round);
}
Tensor trunc(const Tensor& self) {
  return rounded("trunc", "TruncBackward0", self, kernels::trunc);
}
const Tensor& InPlace::trunc_() const {
  return update("trunc_", self(), tend::trunc);
}

Tensor atan2(const Tensor& self, const Tensor& other) {
  const DType dtype = to_floating(result_type(self.array(), other.array()));
  return record("Atan2Backward0", broadcast_binary("atan2", self, other, kernels::atan2, dtype),
                {self, other}, {self, other}, [](Derivative& d) {
                  const DType floating = d.grad().dtype();
                  const Tensor y = to(d.saved(0), floating), x = to(d.saved(1), floating);
                  const Tensor each = d.grad() * reciprocal(x * x + y * y);
                  if (d.needs(0)) d.set(0, each * x);
                  if (d.needs(1)) d.set(1, each * -y);
                });
}
const Tensor& InPlace::atan2_(const Tensor& other) const {
  return update("atan2_", self(), tend::atan2, other);
}

Tensor logaddexp(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return record("LogaddexpBackward0",
                broadcast_binary("logaddexp", self, other, kernels::logaddexp, dtype),
                {self, other}, {self, other}, [](Derivative& d) {
                  const Tensor difference = d.saved(0) - d.saved(1);
                  if (d.needs(0)) d.set(0, d.grad() * sigmoid(difference));
                  if (d.needs(1)) d.set(1, d.grad() * sigmoid(-difference));
                });
}

namespace {

Tensor xlogy(const char* name, const Tensor& self, const Tensor& other) {
  const DType dtype = to_floating(result_type(self.array(), other.array()));
  return record(name, broadcast_binary("xlogy", self, other, kernels::xlogy, dtype), {self, other},
                {self, other}, [](Derivative& d) {
                  const Tensor x = d.saved(0), y = d.saved(1);
                  if (d.needs(0)) {
                    // xlogy, since 0 times an infinite logarithm is 0, as in PyTorch.
                    const Tensor flat = logical_and(x == 0, y <= 0);
                    d.set(0, masked_fill(tend::xlogy(d.grad(), y), flat, 0));
                  }
                  if (d.needs(1)) d.set(1, d.grad() * x / y);
                });
}

}  // namespace

Tensor xlogy(const Tensor& self, const Tensor& other) {
  return xlogy("XlogyBackward0", self, other);
}
Tensor xlogy(const Tensor& self, const Scalar& other) {
  return xlogy("XlogyBackward2", self, number_like(self, other));
}
Tensor xlogy(const Scalar& self, const Tensor& other) {
  return xlogy("XlogyBackward1", number_like(other, self), other);
}
const Tensor& InPlace::xlogy_(const Tensor& other) const {
  return update("xlogy_", self(), tend::xlogy, other);
}
const Tensor& InPlace::xlogy_(const Scalar& other) const {
  return update("xlogy_", self(), tend::xlogy, other);
}

}  // namespace tend
