#include <tend/autograd/ops/pow.h>

#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/math.h>

namespace tend {
namespace {

// As in PyTorch, some exponents use a special function, such as sqrt for 0.5. This decides the
// results for special values: (-inf)^0.5 is NaN, as sqrt(-inf) is.
void power(const Array& out, const Array& base, const Scalar& exponent) {
  const double p = exponent.to<double>();
  if (p == 0) {
    out.fill(1);
  } else if (p == 1) {
    out.copy_from(base);
  } else if (p == 2) {
    kernels::square(out, base);
  } else if (p == 3) {
    kernels::cube(out, base);
  } else if (p == 0.5) {
    kernels::sqrt(out, base);
  } else if (p == -0.5) {
    kernels::rsqrt(out, base);
  } else if (p == -1) {
    kernels::reciprocal(out, base);
  } else if (p == -2) {
    kernels::square(out, base);
    kernels::reciprocal(out, out);
  } else {
    kernels::pow(out, base, Array::scalar(exponent, out.dtype()));
  }
}

Tensor pow(const Form& form, const Tensor& self, const Scalar& exponent) {
  const DType dtype = promote_types(self.dtype(), exponent);
  const double p = exponent.to<double>();
  if (!is_floating(dtype) && p < 0) {
    fail(form.operation, dtype, " to the power of ", p, ": integers have no negative powers");
  }
  const auto kernel = [&](const Array& out, const Array& base) { power(out, base, exponent); };
  return elementwise(
      form, "PowBackward0", dtype, kernel, {save_if(p != 0, self)},
      [p](Derivative& d) {
        if (p == 0) return zero_gradient(d);
        d.set(0, d.grad() * (p * tend::pow(d.saved(0), p - 1)));
      },
      self);
}

Tensor pow(const Form& form, const char* node, const Tensor& self, const Tensor& exponent) {
  const DType dtype = result_type(self.array(), exponent.array());
  return elementwise(
      form, node, dtype, kernels::pow,
      {self, exponent, exponent.requires_grad() ? kOutput : TensorRef()},
      [](Derivative& d) {
        const Tensor base = d.saved(0);
        Tensor p = d.saved(1);
        if (p.dtype() == boolean) p = to(p, d.grad().dtype());  // bool tensors cannot be subtracted
        if (d.needs(0)) {
          d.set(0, where(p == 0, 0, d.grad() * (p * tend::pow(base, p - 1))));
        }
        if (d.needs(1)) {
          // At base 0 the logarithm is infinite, but the limit of the derivative is 0.
          const Tensor flat = logical_and(base == 0, p >= 0);
          const Tensor slope = d.saved(2) * log(to(base, d.grad().dtype()));
          d.set(1, d.grad() * where(flat, 0, slope));
        }
      },
      self, exponent);
}

}  // namespace

Tensor pow(const Tensor& self, const Scalar& exponent) {
  return pow({"pow"}, self, exponent);
}
Tensor pow(const Tensor& self, const Tensor& exponent) {
  return pow({"pow"}, "PowBackward1", self, exponent);
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
  return pow({"pow"}, "PowBackward2", number_like(exponent, self), exponent);
}
const Tensor& InPlace::pow_(const Scalar& exponent) const {
  return in_place_form("pow_", self(), [&](const Form& form) { pow(form, self(), exponent); });
}
const Tensor& InPlace::pow_(const Tensor& exponent) const {
  return in_place_form("pow_", self(),
                       [&](const Form& form) { pow(form, "PowBackward1", self(), exponent); });
}

Tensor square(const Tensor& self) {
  return pow({"square"}, self, 2);
}
const Tensor& InPlace::square_() const {
  return in_place_form("square_", self(), [&](const Form& form) { pow(form, self(), 2); });
}

}  // namespace tend
