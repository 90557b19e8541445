#include <tend/autograd/ops/activation.h>

#include <numbers>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/activation.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/rows/softmax.h>

namespace tend {

using kernels::Formula, kernels::PairFormula, kernels::TripleFormula, kernels::Parameters;

namespace {

// Computes the gradient of a piecewise linear function f at x. This gradient is linear in `grad`,
// and its derivative with respect to x is 0. The zero derivative is recorded. Otherwise a second
// derivative of f would be an error about a missing graph; in PyTorch it is zeros.
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

// The gradient of scale * f(x). Here f(x) is x if x is positive, and otherwise
// alpha (exp(input_scale x) - 1).
Tensor elu_gradient(const Tensor& grad, const Tensor& x, double alpha, double scale,
                    double input_scale) {
  if (!grad_enabled()) {
    const Parameters parameters{alpha * scale, input_scale, scale};
    return computed(PairFormula::elu_backward, parameters, grad.dtype(), grad, x);
  }
  // The exponential is not used where x is positive, but it must not overflow there.
  const Tensor slope = (alpha * scale * input_scale) * exp(clamp_max(x, 0) * input_scale);
  return grad * where(x <= 0, slope, scale);
}

constexpr double kSeluAlpha = 1.6732632423543772848, kSeluScale = 1.0507009873554804934;

void selu_kernel(const Array& out, const Array& x) {
  if (!is_floating(x.dtype()))
    fail<DTypeError>("selu", "needs float32 or float64, got ", x.dtype());
  kernels::elu(out, x, kSeluAlpha, kSeluScale);
}

void hardsigmoid_kernel(const Array& out, const Array& x) {
  kernels::compute("hardsigmoid", Formula::hardsigmoid, {}, out, x);
}

void hardswish_kernel(const Array& out, const Array& x) {
  kernels::compute("hardswish", Formula::hardswish, {}, out, x);
}

Tensor hardswish_slope(const Tensor& grad, const Tensor& x) {
  return masked_fill(where(x > 3, grad, grad * (x / 3 + 0.5)), x < -3, 0);
}

Tensor silu_slope(const Tensor& x) {
  const Tensor s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

Tensor mish_slope(const Tensor& x) {
  const Tensor t = tanh(softplus(x));
  return t + x * sigmoid(x) * (1 - t * t);
}

}  // namespace

#define TEND_TABLE <tend/autograd/ops/activation_table.h>
#define TEND_ROWS_DEFINE
#include <tend/autograd/ops/row_forms.h>

namespace {

Tensor leaky_relu(const Form& form, const Tensor& self, double negative_slope) {
  check_holds(form.operation, self.dtype(), negative_slope);
  const auto kernel = [=](const Array& out, const Array& x) {
    kernels::leaky_relu(out, x, negative_slope);
  };
  return elementwise(
      form, "LeakyReluBackward0", self.dtype(), kernel, {self},
      [negative_slope](Derivative& d) {
        d.set(0, piecewise_linear_gradient("leaky_relu_backward", "LeakyReluBackwardBackward0",
                                           d.grad(), d.saved(0), PairFormula::leaky_relu_backward,
                                           {negative_slope}));
      },
      self);
}

Tensor elu(const Form& form, const char* node, const Tensor& self, double alpha,
           double input_scale) {
  check_holds(form.operation, self.dtype(), alpha);
  const auto kernel = [=](const Array& out, const Array& x) {
    kernels::elu(out, x, alpha, 1, input_scale);
  };
  return elementwise(
      form, node, self.dtype(), kernel, {self},
      [=](Derivative& d) { d.set(0, elu_gradient(d.grad(), d.saved(0), alpha, 1, input_scale)); },
      self);
}

Tensor celu(const Form& form, const Tensor& self, double alpha) {
  check_floating(form.operation, self);
  if (!(alpha > 0)) fail(form.operation, "alpha is ", alpha, ", not a number above 0");
  return elu(form, "CeluBackward0", self, alpha, 1 / alpha);
}

Tensor hardtanh(const Form& form, const Tensor& self, const Scalar& min_val,
                const Scalar& max_val) {
  if (self.dtype() == boolean)
    fail<DTypeError>(form.operation, "needs int64, float32 or float64, got bool");
  check_holds(form.operation, self.dtype(), min_val);
  check_holds(form.operation, self.dtype(), max_val);
  const double lo = min_val.to<double>(), hi = max_val.to<double>();
  const bool swapped =
      self.dtype() == int64 ? min_val.to<std::int64_t>() > max_val.to<std::int64_t>() : lo > hi;
  if (swapped) fail(form.operation, "min_val = ", lo, " is larger than max_val = ", hi);
  const auto kernel = [&](const Array& out, const Array& x) {
    kernels::clamp(out, x, min_val, max_val);
  };
  return elementwise(
      form, "HardtanhBackward0", self.dtype(), kernel, {self},
      [lo, hi](Derivative& d) {
        d.set(0,
              piecewise_linear_gradient("hardtanh_backward", "HardtanhBackwardBackward0", d.grad(),
                                        d.saved(0), PairFormula::hardtanh_backward, {lo, hi}));
      },
      self);
}

}  // namespace

Tensor leaky_relu(const Tensor& self, double negative_slope) {
  return leaky_relu({"leaky_relu"}, self, negative_slope);
}
const Tensor& InPlace::leaky_relu_(double negative_slope) const {
  return in_place_form("leaky_relu_", self(),
                       [&](const Form& form) { leaky_relu(form, self(), negative_slope); });
}

Tensor elu(const Tensor& self, double alpha) {
  return elu({"elu"}, "EluBackward0", self, alpha, 1);
}
const Tensor& InPlace::elu_(double alpha) const {
  return in_place_form("elu_", self(),
                       [&](const Form& form) { elu(form, "EluBackward0", self(), alpha, 1); });
}

Tensor celu(const Tensor& self, double alpha) {
  return celu({"celu"}, self, alpha);
}
const Tensor& InPlace::celu_(double alpha) const {
  return in_place_form("celu_", self(), [&](const Form& form) { celu(form, self(), alpha); });
}

Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return hardtanh({"hardtanh"}, self, min_val, max_val);
}
const Tensor& InPlace::hardtanh_(const Scalar& min_val, const Scalar& max_val) const {
  return in_place_form("hardtanh_", self(),
                       [&](const Form& form) { hardtanh(form, self(), min_val, max_val); });
}

Tensor relu6(const Tensor& self) {
  return hardtanh({"relu6"}, self, 0, 6);
}
const Tensor& InPlace::relu6_() const {
  return in_place_form("relu6_", self(), [&](const Form& form) { hardtanh(form, self(), 0, 6); });
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  check_floating("prelu", self);
  check_one_dtype("prelu", self, weight);
  const std::int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  if (weight.dim() > 1 || (weight.numel() != 1 && weight.numel() != channels))
    fail<ShapeError>("prelu", "the weight must be 0-d, (1,) or (", channels, ",) for the input ",
                     self.shape(), ", but is ", weight.shape());
  Shape along = Shape::filled(self.shape().size(), 1);
  if (self.dim() > 1) along[1] = weight.numel();
  // The product is not used where self is positive, but an infinite self would make the gradient of
  // the weight NaN. So self is replaced by 0 there.
  const Tensor positive = self > 0;
  return where(positive, self, reshape(weight, along) * masked_fill(self, positive, 0));
}

Tensor softplus(const Tensor& self, double beta, double threshold) {
  check_holds("softplus", self.dtype(), beta);
  check_holds("softplus", self.dtype(), threshold);
  const auto kernel = [=](const Array& out, const Array& x) {
    kernels::softplus(out, x, beta, threshold);
  };
  return elementwise(
      {"softplus"}, "SoftplusBackward0", self.dtype(), kernel, {self},
      [beta, threshold](Derivative& d) {
        if (!grad_enabled())
          return d.set(0, sloped(d, PairFormula::softplus_backward, {beta, threshold}));
        const Tensor z = d.saved(0) * beta;
        d.set(0, where(z > threshold, d.grad(), d.grad() * sigmoid(z)));
      },
      self);
}

Tensor softsign(const Tensor& self) {
  if (self.dtype() == boolean) fail<DTypeError>("softsign", "a bool tensor has no sign");
  return self / (1 + abs(self));
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
    fail<ShapeError>("glu", "dimension ", dim, " of ", self.shape(),
                     " must have an even size, but has size ", self.size(dim));
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
  return elementwise(
      {"gelu"}, "GeluBackward0", self.dtype(), kernel, {self},
      [=](Derivative& d) {
        const Tensor x = d.saved(0);
        if (grad_enabled()) {
          d.set(0, d.grad() * (approximate ? tanh_gelu_slope(x) : gelu_slope(x)));
        } else {
          d.set(0, fused(d.grad(), [&](const Array& out, const Array& grad) {
                  kernels::gelu_backward(out, grad, x.array(), approximate);
                }));
        }
      },
      self);
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

Tensor softmin(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  if (!dtype) check_floating("softmin", self);
  wrap_dim("softmin", dim, self.dim());
  return softmax(-self, dim, dtype);
}

Tensor gumbel_softmax(const Tensor& self, double tau, Flag hard, double /*eps*/, std::int64_t dim,
                      Generator& generator) {
  check_floating("gumbel_softmax", self);
  if (!(tau > 0)) fail("gumbel_softmax", "tau is ", tau, ", not a number above 0");
  wrap_dim("gumbel_softmax", dim, self.dim());
  const Tensor noise = -log(empty(self.shape(), self.dtype()).exponential_(1, generator));
  Tensor soft = softmax((self + noise) / tau, dim);
  if (!hard) return soft;
  const Tensor chosen = argmax(soft, dim, true);
  const Tensor one_hot = scatter(zeros_like(soft), dim, chosen, 1);
  return one_hot - soft.detach() + soft;
}

}  // namespace tend
