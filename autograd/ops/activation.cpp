#include <tend/autograd/ops/activation.h>

#include <numbers>

#include <tend/autograd/grad_mode.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/math.h>
#include <tend/core/kernels/softmax.h>

namespace tend {
namespace {

// A gradient that one kernel computes: kernel(out, grad). Only for a backward that records
// nothing; the composed formula beside it is what it means.
template <class Kernel>
Tensor fused(const Tensor& grad, Kernel kernel) {
  Array out = Array::empty(grad.shape(), grad.dtype());
  kernel(out, grad.array());
  return Tensor(std::move(out));
}

}  // namespace

Tensor relu(const Tensor& self) {
  return record("ReluBackward0", unary(self, kernels::relu, false), {self}, {kOutput},
                [](Derivative& d) { d.set(0, masked_fill(d.grad(), d.saved(0) <= 0, 0)); });
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

Tensor softmax(const Tensor& self, std::int64_t dim) {
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

Tensor log_softmax(const Tensor& self, std::int64_t dim) {
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

}  // namespace tend
