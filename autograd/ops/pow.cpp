#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/math.h>

namespace tend {
namespace {

// Exponents that have a function of their own use it, as in PyTorch: (-inf)^0.5 is sqrt's NaN.
Array power(const Tensor& self, const Scalar& exponent) {
  const DType dtype = promote_types(self.dtype(), exponent);
  const double p = exponent.to<double>();
  if (!is_floating(dtype) && p < 0)
    fail("pow", dtype, " to the power of ", p, ": integers have no negative powers");
  const Array base = self.array().to(dtype);
  Array out = Array::empty_like(base);
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
    kernels::pow(out, base, Array::scalar(exponent, dtype));
  }
  return out;
}

}  // namespace

Tensor pow(const Tensor& self, const Scalar& exponent) {
  const double p = exponent.to<double>();
  return record("PowBackward0", power(self, exponent), {self}, {save_if(p != 0, self)},
                [p](Derivative& d) {
                  if (p == 0) return zero_gradient(d);
                  d.set(0, d.grad() * (p * pow(d.saved(0), p - 1)));
                });
}

namespace {

Tensor power(const char* name, const Tensor& self, const Tensor& exponent,
             const char* operation = __builtin_FUNCTION()) {
  const DType dtype = result_type(self.array(), exponent.array());
  return record(
      name, broadcast_binary("pow", self, exponent, kernels::pow, dtype), {self, exponent},
      {self, exponent, exponent.requires_grad() ? kOutput : TensorRef()},
      [](Derivative& d) {
        const Tensor base = d.saved(0);
        Tensor p = d.saved(1);
        if (p.dtype() == boolean) p = to(p, d.grad().dtype());  // truths have no difference
        if (d.needs(0)) {
          d.set(0, where(p == 0, 0, d.grad() * (p * pow(base, p - 1))));
        }
        if (d.needs(1)) {
          // At base 0 the logarithm is infinite, but the limit of the derivative is 0.
          const Tensor flat = logical_and(base == 0, p >= 0);
          const Tensor slope = d.saved(2) * log(to(base, d.grad().dtype()));
          d.set(1, d.grad() * where(flat, 0, slope));
        }
      },
      operation);
}

}  // namespace

Tensor pow(const Tensor& self, const Tensor& exponent) {
  return power("PowBackward1", self, exponent);
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
  return power("PowBackward2", number_like(exponent, self), exponent);
}
const Tensor& InPlace::pow_(const Tensor& exponent) const {
  return update("pow_", self(), tend::pow, exponent);
}
const Tensor& InPlace::pow_(const Scalar& exponent) const {
  return update("pow_", self(), tend::pow, exponent);
}

Tensor square(const Tensor& self) try { return pow(self, 2); } catch (const Error&) {
  rename_error("square");
}
const Tensor& InPlace::square_() const {
  return update("square_", self(), tend::square);
}

}  // namespace tend
