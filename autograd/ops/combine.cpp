#include <tend/autograd/ops/combine.h>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {
namespace {

using kernels::TripleFormula;

// self + value * a * b for integers, which wrap around.
void plus_product(const Array& out, const Array& self, const Array& a, const Array& b,
                  const Scalar& value) {
  const Array product =
      Array::empty(broadcast_shapes("addcmul", a.shape(), b.shape()), out.dtype());
  kernels::mul(product, a, b);
  kernels::add_scaled(out, self, product, value);
}

Tensor addcmul(const Form& form, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  const DType dtype = result_type({&self.array(), &tensor1.array(), &tensor2.array()});
  if (dtype == boolean)
    fail<DTypeError>(form.operation, "bool tensors have no sum; use logical_or");
  if (value.dtype() == float64 && !is_floating(dtype))
    fail<DTypeError>(form.operation, "value must not be floating for ", dtype, " tensors");
  check_holds(form.operation, dtype, value);
  const auto kernel = [&](const Array& out, const Array& x, const Array& a, const Array& b) {
    if (!is_floating(dtype)) return plus_product(out, x, a, b, value);
    kernels::compute("addcmul", TripleFormula::addcmul, {value.to<double>()}, out, x, a, b);
  };
  return elementwise(
      form, "AddcmulBackward0", dtype, kernel,
      {save_if(tensor2.requires_grad(), tensor1), save_if(tensor1.requires_grad(), tensor2)},
      [value](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, d.grad() * (d.saved(1) * value));
        if (d.needs(2)) d.set(2, d.grad() * (d.saved(0) * value));
      },
      self, tensor1, tensor2);
}

Tensor addcdiv(const Form& form, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  if (!is_floating(tensor1.dtype()) && !is_floating(tensor2.dtype())) {
    fail<DTypeError>(form.operation, "integer division: tensor1 is ", tensor1.dtype(), ", tensor2 ",
                     tensor2.dtype(), "; one of them must be floating");
  }
  const DType dtype = result_type({&self.array(), &tensor1.array(), &tensor2.array()});
  check_holds(form.operation, dtype, value);
  const auto kernel = [&](const Array& out, const Array& x, const Array& a, const Array& b) {
    kernels::compute("addcdiv", TripleFormula::addcdiv, {value.to<double>()}, out, x, a, b);
  };
  return elementwise(
      form, "AddcdivBackward0", dtype, kernel, {save_if(tensor2.requires_grad(), tensor1), tensor2},
      [value](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, d.grad() * value / d.saved(1));
        if (d.needs(2)) d.set(2, -d.grad() * value * ((d.saved(0) / d.saved(1)) / d.saved(1)));
      },
      self, tensor1, tensor2);
}

Tensor lerp(const Form& form, const char* node, const Tensor& self, const Tensor& end,
            const Tensor& weight) {
  if (end.dtype() != self.dtype() || weight.dtype() != self.dtype()) {
    fail<DTypeError>(form.operation, "the dtypes differ: self is ", self.dtype(), ", end ",
                     end.dtype(), ", weight ", weight.dtype());
  }
  const bool with_slope = weight.requires_grad();
  return elementwise(
      form, node, self.dtype(), kernels::lerp,
      {save_if(with_slope, self), save_if(with_slope, end), weight},
      [](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad() * (1 - d.saved(2)));
        if (d.needs(1)) d.set(1, d.grad() * d.saved(2));
        if (d.needs(2)) d.set(2, d.grad() * (d.saved(1) - d.saved(0)));
      },
      self, end, weight);
}

Tensor lerp(const Form& form, const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_holds(form.operation, self.dtype(), weight);
  const Tensor same = Tensor(Array::scalar(weight, self.dtype()));
  return lerp(form, "LerpBackward0", self, end, same);
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  return addcmul({"addcmul"}, self, tensor1, tensor2, value);
}
const Tensor& InPlace::addcmul_(const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) const {
  return in_place_form("addcmul_", self(),
                       [&](const Form& form) { addcmul(form, self(), tensor1, tensor2, value); });
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  return addcdiv({"addcdiv"}, self, tensor1, tensor2, value);
}
const Tensor& InPlace::addcdiv_(const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) const {
  return in_place_form("addcdiv_", self(),
                       [&](const Form& form) { addcdiv(form, self(), tensor1, tensor2, value); });
}

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return lerp({"lerp"}, "LerpBackward1", self, end, weight);
}
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  return lerp({"lerp"}, self, end, weight);
}
const Tensor& InPlace::lerp_(const Tensor& end, const Tensor& weight) const {
  return in_place_form("lerp_", self(),
                       [&](const Form& form) { lerp(form, "LerpBackward1", self(), end, weight); });
}
const Tensor& InPlace::lerp_(const Tensor& end, const Scalar& weight) const {
  return in_place_form("lerp_", self(), [&](const Form& form) { lerp(form, self(), end, weight); });
}

}  // namespace tend
