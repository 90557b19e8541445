#include <tend/autograd/ops/math.h>

#include <numbers>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/math.h>

namespace tend {

Tensor exp(const Tensor& self) {
  return record("ExpBackward0", unary(self, kernels::exp), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() * d.saved(0)); });
}

Tensor expm1(const Tensor& self) {
  return record("Expm1Backward0", unary(self, kernels::expm1), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() * (d.saved(0) + 1)); });
}

Tensor log(const Tensor& self) {
  return record("LogBackward0", unary(self, kernels::log), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() / d.saved(0)); });
}

Tensor log1p(const Tensor& self) {
  return record("Log1PBackward0", unary(self, kernels::log1p), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() / (d.saved(0) + 1)); });
}

Tensor sqrt(const Tensor& self) {
  return record("SqrtBackward0", unary(self, kernels::sqrt), {self}, {kOutput},
                [](Derivative& d) { d.set(0, d.grad() / (2 * d.saved(0))); });
}

Tensor rsqrt(const Tensor& self) {
  return record("RsqrtBackward0", unary(self, kernels::rsqrt), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  d.set(0, -0.5 * d.grad() * (y * y * y));
                });
}

Tensor sin(const Tensor& self) {
  return record("SinBackward0", unary(self, kernels::sin), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * cos(d.saved(0))); });
}

Tensor cos(const Tensor& self) {
  return record("CosBackward0", unary(self, kernels::cos), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * -sin(d.saved(0))); });
}

Tensor tan(const Tensor& self) {
  return record("TanBackward0", unary(self, kernels::tan), {self}, {kOutput}, [](Derivative& d) {
    const Tensor y = d.saved(0);
    d.set(0, d.grad() * (1 + y * y));
  });
}

Tensor tanh(const Tensor& self) {
  return record("TanhBackward0", unary(self, kernels::tanh), {self}, {kOutput}, [](Derivative& d) {
    const Tensor y = d.saved(0);
    d.set(0, d.grad() * (1 - y * y));
  });
}

Tensor sigmoid(const Tensor& self) {
  return record("SigmoidBackward0", unary(self, kernels::sigmoid), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  d.set(0, d.grad() * (1 - y) * y);
                });
}

Tensor erf(const Tensor& self) {
  return record("ErfBackward0", unary(self, kernels::erf), {self}, {self}, [](Derivative& d) {
    const Tensor x = d.saved(0);
    d.set(0, d.grad() * (2 * std::numbers::inv_sqrtpi) * exp(-(x * x)));
  });
}

namespace {

template <class Kernel>
Tensor rounded(const char* operation, const char* name, const Tensor& self, Kernel kernel) {
  if (self.dtype() == boolean) fail<DTypeError>(operation, "a bool tensor cannot be rounded");
  if (self.dtype() == int64) return clone(self);
  return record(name, unary(self, kernel), {self}, {}, zero_gradient);
}

}  // namespace

Tensor floor(const Tensor& self) {
  return rounded("floor", "FloorBackward0", self, kernels::floor);
}
Tensor ceil(const Tensor& self) {
  return rounded("ceil", "CeilBackward0", self, kernels::ceil);
}
Tensor round(const Tensor& self) {
  return rounded("round", "RoundBackward0", self, kernels::round);
}
Tensor trunc(const Tensor& self) {
  return rounded("trunc", "TruncBackward0", self, kernels::trunc);
}

}  // namespace tend
