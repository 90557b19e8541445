#include <tend/autograd/ops/activation.h>

#include <numbers>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/activation.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/rows/softmax.h>

namespace tend {

using kernels::Formula, kernels::PairFormula, kernels::TripleFormula, kernels::Parameters;

namespace {

// The gradient of a piecewise linear function. It is linear in `grad`, and depends on x with
// derivative 0, so that a second derivative is zeros, as in PyTorch, and not an error for want of a
// graph.
Tensor piecewise_linear_gradient(const char* operation, const char* node, const Tensor& grad,
                                 const Tensor& x, PairFormula formula,
                                 const Parameters& parameters = {}) {
  return record(
      node, computed(formula, parameters, grad.dtype(), grad, x).array(), {grad, x}, {x},
      [=](Derivative& d) {
        const Tensor saved = d.saved(0);
        d.set(0, piecewise_linear_gradient(operation, node, d.grad(), saved, formula, parameters));
        if (d.needs(1)) d.set(1, zeros(saved.shape(), saved.dtype()));
      },
      operation);
}

}  // namespace

Tensor relu(const Tensor& self) {
  return record(
      "ReluBackward0", unary(self, kernels::relu, false), {self}, {kOutput}, [](Derivative& d) {
        d.set(0, piecewise_linear_gradient("relu_backward", "ThresholdBackwardBackward0", d.grad(),
                                           d.saved(0), PairFormula::relu_backward));
      });
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
                  d.set(0, piecewise_linear_gradient(
                               "leaky_relu_backward", "LeakyReluBackwardBackward0", d.grad(),
                               d.saved(0), PairFormula::leaky_relu_backward, {negative_slope}));
                });
}
const Tensor& InPlace::leaky_relu_(double negative_slope) const {
  return update("leaky_relu_", self(), tend::leaky_relu, negative_slope);
}

namespace {

// scale times: x where it is positive, else alpha (exp(input_scale x) - 1)
Tensor scaled_elu(const char* node, const Tensor& self, double alpha, double scale,
                  double input_scale, const char* operation = __builtin_FUNCTION()) {
  const auto kernel = [=](const Array& out, const Array& x) {
    kernels::elu(out, x, alpha, scale, input_scale);
  };
  return record(
      node, unary(self, kernel, false), {self}, {self},
      [=](Derivative& d) {
        if (!grad_enabled()) {
          const Parameters parameters{alpha * scale, input_scale, scale};
          return d.set(0, sloped(d, PairFormula::elu_backward, parameters));
        }
        const Tensor x = d.saved(0);
        // Where x is positive the exponential is not used, but must not overflow.
        const Tensor slope = (alpha * scale * input_scale) * exp(clamp_max(x, 0) * input_scale);
        d.set(0, d.grad() * where(x <= 0, slope, scale));
      },
      operation);
}

}  // namespace

Tensor elu(const Tensor& self, double alpha) {
  check_holds("elu", self.dtype(), alpha);
  return scaled_elu("EluBackward0", self, alpha, 1, 1);
}
const Tensor& InPlace::elu_(double alpha) const {
  return update("elu_", self(), tend::elu, alpha);
}

Tensor selu(const Tensor& self) {
  check_floating("selu", self);
  constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  return scaled_elu("EluBackward0", self, kAlpha, kScale, 1);
}
const Tensor& InPlace::selu_() const {
  return update("selu_", self(), tend::selu);
}

Tensor celu(const Tensor& self, double alpha) {
  check_floating("celu", self);
  if (!(alpha > 0)) fail("celu", "alpha is ", alpha, ", not a number above 0");
  check_holds("celu", self.dtype(), alpha);
  return scaled_elu("CeluBackward0", self, alpha, 1, 1 / alpha);
}
const Tensor& InPlace::celu_(double alpha) const {
  return update("celu_", self(), tend::celu, alpha);
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
  return record(
      "HardtanhBackward0", unary(self, kernel, false), {self}, {self}, [lo, hi](Derivative& d) {
        d.set(0,
              piecewise_linear_gradient("hardtanh_backward", "HardtanhBackwardBackward0", d.grad(),
                                        d.saved(0), PairFormula::hardtanh_backward, {lo, hi}));
      });
}
const Tensor& InPlace::hardtanh_(const Scalar& min_val, const Scalar& max_val) const {
  return update("hardtanh_", self(), tend::hardtanh, min_val, max_val);
}

Tensor hardsigmoid(const Tensor& self) {
  check_floating("hardsigmoid", self);
  return record(
      "HardsigmoidBackward0", computed(Formula::hardsigmoid, {}, self.dtype(), self).array(),
      {self}, {self}, [](Derivative& d) {
        d.set(0,
              piecewise_linear_gradient("hardsigmoid_backward", "HardsigmoidBackwardBackward0",
                                        d.grad(), d.saved(0), PairFormula::hardsigmoid_backward));
      });
}
const Tensor& InPlace::hardsigmoid_() const {
  return update("hardsigmoid_", self(), tend::hardsigmoid);
}

Tensor hardswish(const Tensor& self) {
  check_floating("hardswish", self);
  return record("HardswishBackward0", computed(Formula::hardswish, {}, self.dtype(), self).array(),
                {self}, {self}, [](Derivative& d) {
                  if (!grad_enabled()) return d.set(0, sloped(d, PairFormula::hardswish_backward));
                  const Tensor x = d.saved(0), grad = d.grad();
                  const Tensor inner = where(x > 3, grad, grad * (x / 3 + 0.5));
                  d.set(0, masked_fill(inner, x < -3, 0));
                });
}
const Tensor& InPlace::hardswish_() const {
  return update("hardswish_", self(), tend::hardswish);
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
                  if (!grad_enabled()) return d.set(0, sloped(d, PairFormula::mish_backward));
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
                  if (!grad_enabled())
                    return d.set(0, sloped(d, PairFormula::softplus_backward, {beta, threshold}));
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
  return record("LogSigmoidBackward0", unary_row_major(self, kernels::logsigmoid), {self}, {self},
                [](Derivative& d) {
                  if (!grad_enabled()) return d.set(0, sloped(d, PairFormula::logsigmoid_backward));
                  d.set(0, d.grad() * sigmoid(-d.saved(0)));
                });
}

namespace {

Tensor glu_gradient(const Array& grad, const Array& x, std::int64_t dim, std::int64_t half) {
  Array out = Array::empty_like(x);
  const Array a = x.narrow(dim, 0, half), gate = x.narrow(dim, half, half);
  kernels::compute("glu", PairFormula::gated, {}, out.narrow(dim, 0, half), grad, gate);
  kernels::compute("glu", TripleFormula::gate_backward, {}, out.narrow(dim, half, half), grad, a,
                   gate);
  return Tensor(std::move(out));
}

}  // namespace

Tensor glu(const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0) fail<ShapeError>("glu", "a 0-d tensor has no halves");
  dim = wrap_dim("glu", dim, self.dim());
  const std::int64_t half = self.size(dim) / 2;
  if (self.size(dim) % 2 != 0) {
    fail<ShapeError>("glu", "dimension ", dim, " of ", self.shape(), " has the odd size ",
                     self.size(dim));
  }
  check_floating("glu", self);
  const Array a = self.array().narrow(dim, 0, half), gate = self.array().narrow(dim, half, half);
  Array out = Array::empty_like(a);
  kernels::compute("glu", PairFormula::gated, {}, out, a, gate);
  return record("GluBackward0", std::move(out), {self}, {self}, [dim, half](Derivative& d) {
    const Tensor x = d.saved(0);
    if (!grad_enabled()) return d.set(0, glu_gradient(d.grad().array(), x.array(), dim, half));
    const Tensor s = sigmoid(narrow(x, dim, half, half));
    const Tensor open = d.grad() * s;
    d.set(0, cat({open, open * (1 - s) * narrow(x, dim, 0, half)}, dim));
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

Tensor gelu(const Tensor& self, OrWord<GeluKind> kind) {
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
  return record("SoftmaxBackward0", unary_row_major(self, kernel), {self}, {kOutput},
                [dim](Derivative& d) {
                  const Tensor y = d.saved(0);
                  if (grad_enabled()) {
                    d.set(0, y * (d.grad() - sum(d.grad() * y, {dim}, true)));
                  } else {
                    const auto slope = [&](const Array& out, const Array& grad) {
                      kernels::softmax_backward(out, grad, y.array(), dim);
                    };
                    d.set(0, Tensor(unary_row_major(d.grad(), slope)));
                  }
                });
}

Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (dtype) return log_softmax(to(self, *dtype), dim);
  const auto kernel = [=](const Array& out, const Array& x) { kernels::log_softmax(out, x, dim); };
  return record("LogSoftmaxBackward0", unary_row_major(self, kernel), {self}, {kOutput},
                [dim](Derivative& d) {
                  const Tensor y = d.saved(0);
                  if (grad_enabled()) {
                    d.set(0, d.grad() - exp(y) * sum(d.grad(), {dim}, true));
                  } else {
                    const auto slope = [&](const Array& out, const Array& grad) {
                      kernels::log_softmax_backward(out, grad, y.array(), dim);
                    };
                    d.set(0, Tensor(unary_row_major(d.grad(), slope)));
                  }
                });
}

Tensor softmin(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) try {
  return softmax(-self, dim, dtype);
} catch (const Error&) {
  rename_error("softmin");
}

}  // namespace tend
