#include <tend/autograd/ops/activation.h>

#include <numbers>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/activation.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/rows/softmax.h>

namespace tend {
Tensor relu(const Tensor& self) {
  return record("ReluBackward0", unary(self, kernels::relu, false), {self}, {kOutput},
                [](Derivative& d) { d.set(0, masked_fill(d.grad(), d.saved(0) <= 0, 0)); });
}
const Tensor& InPlace::relu_() const {
  return update("relu_", self(), tend::relu);
}

Tensor leaky_relu(const Tensor& self, double negative_slope) {
  check_holds("leaky_relu", self.dtype(), negative_slope);
  const auto kernel = [=](const Array& out, const Array& x) {
    kernels::leaky_relu(out, x, negative_slope);
  };
  return record("LeakyReluBackward0", unary(self, kernel, false), {self}, {self},
                [negative_slope](Derivative& d) {
                  d.set(0, where(d.saved(0) > 0, d.grad(), d.grad() * negative_slope));
                });
}
const Tensor& InPlace::leaky_relu_(double negative_slope) const {
  return update("leaky_relu_", self(), tend::leaky_relu, negative_slope);
}

Tensor elu(const Tensor& self, double alpha) {
  check_holds("elu", self.dtype(), alpha);
  const auto kernel = [=](const Array& out, const Array& x) { kernels::elu(out, x, alpha); };
  return record("EluBackward0", unary(self, kernel, false), {self}, {self}, [alpha](Derivative& d) {
    const Tensor x = d.saved(0);
    // Where x is positive the exponential is not used, but must not overflow.
    const Tensor slope = alpha * exp(clamp_max(x, 0));
    d.set(0, where(x <= 0, d.grad() * slope, d.grad()));
  });
}
const Tensor& InPlace::elu_(double alpha) const {
  return update("elu_", self(), tend::elu, alpha);
}

Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  if (self.dtype() == boolean)
    fail<DTypeError>("hardtanh", "needs int64, float32 or float64, got bool");
  check_holds("hardtanh", self.dtype(), min_val);
  check_holds("hardtanh", self.dtype(), max_val);
  const double lo = min_val.to<double>(), hi = max_val.to<double>();
  const bool swapped =
      self.dtype() == int64 ? min_val.to<std::int64_t>() > max_val.to<std::int64_t>() : lo > hi;
  if (swapped) fail("hardtanh", "min_val = ", lo, " is larger than max_val = ", hi);
  const auto kernel = [&](const Array& out, const Array& x) {
    kernels::clamp(out, x, min_val, max_val);
  };
  return record("HardtanhBackward0", unary(self, kernel, false), {self}, {self},
                [lo, hi](Derivative& d) {
                  const Tensor x = d.saved(0);
                  d.set(0, masked_fill(d.grad(), logical_or(x <= lo, x >= hi), 0));
                });
}
const Tensor& InPlace::hardtanh_(const Scalar& min_val, const Scalar& max_val) const {
  return update("hardtanh_", self(), tend::hardtanh, min_val, max_val);
}

Tensor silu(const Tensor& self) {
  return record("SiluBackward0", unary(self, kernels::silu, false), {self}, {self},
                [](Derivative& d) {
                  const Tensor x = d.saved(0);
                  if (grad_enabled()) {
                    const Tensor s = sigmoid(x);
                    d.set(0, d.grad() * (s * (1 + x * (1 - s))));
                  } else {
                    d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
                            kernels::silu_backward(out, grad, x.array());
                          }));
                  }
                });
}
const Tensor& InPlace::silu_() const {
  return update("silu_", self(), tend::silu);
}

Tensor mish(const Tensor& self) {
  return record("MishBackward0", unary(self, kernels::mish, false), {self}, {self},
                [](Derivative& d) {
                  const Tensor x = d.saved(0);
                  const Tensor t = tanh(softplus(x));
                  d.set(0, d.grad() * (t + x * sigmoid(x) * (1 - t * t)));
                });
}
const Tensor& InPlace::mish_() const {
  return update("mish_", self(), tend::mish);
}

Tensor softplus(const Tensor& self, double beta, double threshold) {
  check_holds("softplus", self.dtype(), beta);
  check_holds("softplus", self.dtype(), threshold);
  const auto kernel = [=](const Array& out, const Array& x) {
    kernels::softplus(out, x, beta, threshold);
  };
  return record("SoftplusBackward0", unary(self, kernel, false), {self}, {self},
                [beta, threshold](Derivative& d) {
                  const Tensor z = d.saved(0) * beta;
                  d.set(0, where(z > threshold, d.grad(), d.grad() * sigmoid(z)));
                });
}

Tensor softsign(const Tensor& self) try {
  if (self.dtype() == boolean) fail<DTypeError>("softsign", "a bool tensor has no sign");
  return self / (1 + abs(self));
} catch (const Error&) {
  rename_error("softsign");
}

Tensor logsigmoid(const Tensor& self) {
  return record("LogSigmoidBackward0", unary(self, kernels::logsigmoid, false), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * sigmoid(-d.saved(0))); });
}

Tensor glu(const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0) fail<ShapeError>("glu", "a 0-d tensor has no halves");
  dim = wrap_dim("glu", dim, self.dim());
  const std::int64_t half = self.size(dim) / 2;
  if (self.size(dim) % 2 != 0) {
    fail<ShapeError>("glu", "dimension ", dim, " of ", self.shape(), " has the odd size ",
                     self.size(dim));
  }
  check_floating("glu", self);
  const Array out = Array::empty(self.array().narrow(dim, 0, half).shape(), self.dtype());
  kernels::sigmoid(out, self.array().narrow(dim, half, half));
  kernels::mul(out, self.array().narrow(dim, 0, half), out);
  return record("GluBackward0", out, {self}, {self}, [dim, half](Derivative& d) {
    const Tensor x = d.saved(0);
    const Tensor s = sigmoid(narrow(x, dim, half, half));
    const Tensor open = d.grad() * s;
    d.set(0, cat({open, open * narrow(x, dim, 0, half) * (1 - s)}, dim));
  });
}

namespace {

Tensor gelu_slope(const Tensor& x) {
  const Tensor density = exp(-0.5 * x * x) * (0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  return 0.5 * (1 + erf(x / std::numbers::sqrt2)) + x * density;
}

Tensor tanh_gelu_slope(const Tensor& x) {
  constexpr double kRoot = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Tensor t = tanh(kRoot * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (kRoot * (1 + 3 * 0.044715 * x * x));
}

}  // namespace

Tensor gelu(const Tensor& self, GeluKind kind) {
  const bool approximate = kind == GeluKind::tanh;
  const auto kernel = [=](const Array& out, const Array& x) { kernels::gelu(out, x, approximate); };
  return record("GeluBackward0", unary(self, kernel, false), {self}, {self}, [=](Derivative& d) {
    const Tensor x = d.saved(0);
    if (grad_enabled()) {
      d.set(0, d.grad() * (approximate ? tanh_gelu_slope(x) : gelu_slope(x)));
    } else {
      d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
              kernels::gelu_backward(out, grad, x.array(), approximate);
            }));
    }
  });
}

Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (dtype) return softmax(to(self, *dtype), dim);
  const auto kernel = [=](const Array& out, const Array& x) { kernels::softmax(out, x, dim); };
  return record("SoftmaxBackward0", unary(self, kernel, false), {self}, {kOutput},
                [dim](Derivative& d) {
                  const Tensor y = d.saved(0);
                  if (grad_enabled()) {
                    d.set(0, y * (d.grad() - sum(d.grad() * y, {dim}, true)));
                  } else {
                    d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
                            kernels::softmax_backward(out, grad, y.array(), dim);
                          }));
                  }
                });
}

Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (dtype) return log_softmax(to(self, *dtype), dim);
  const auto kernel = [=](const Array& out, const Array& x) { kernels::log_softmax(out, x, dim); };
  return record("LogSoftmaxBackward0", unary(self, kernel, false), {self}, {kOutput},
                [dim](Derivative& d) {
                  const Tensor y = d.saved(0);
                  if (grad_enabled()) {
                    d.set(0, d.grad() - exp(y) * sum(d.grad(), {dim}, true));
                  } else {
                    d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
                            kernels::log_softmax_backward(out, grad, y.array(), dim);
                          }));
                  }
                });
}

Tensor softmin(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) try {
  return softmax(-self, dim, dtype);
} catch (const Error&) {
  rename_error("softmin");
}

}  // namespace tend
