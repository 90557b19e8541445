// addcmul, addcdiv and lerp: declared in arithmetic.h.
#include <tend/autograd/ops/arithmetic.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {
namespace {

using kernels::TripleFormula;

void check_shapes(const char* operation, const Tensor& self, const Tensor& a, const Tensor& b) {
  broadcast_shapes(operation, self.shape(), broadcast_shapes(operation, a.shape(), b.shape()));
}

// self + value * a * b of integers, which wrap around.
Array plus_product(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value) {
  const Array product = broadcast_binary("addcmul", a, b, kernels::mul, int64);
  Array out = Array::empty_like(broadcast_shapes("addcmul", self.shape(), product.shape()),
                                product.dtype(), {&self.array(), &product});
  kernels::add_scaled(out, AsDtype(self.array(), int64), product, value);
  return out;
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  const DType dtype = result_type({&self.array(), &tensor1.array(), &tensor2.array()});
  if (dtype == boolean) fail<DTypeError>("addcmul", "bool tensors have no sum; use logical_or");
  if (value.dtype() == float64 && !is_floating(dtype))
    fail<DTypeError>("addcmul", "a floating value with ", dtype, " tensors");
  check_holds("addcmul", dtype, value);
  check_shapes("addcmul", self, tensor1, tensor2);
  Array out = is_floating(dtype) ? computed(TripleFormula::addcmul, {value.to<double>()}, dtype,
                                            self, tensor1, tensor2)
                                       .array()
                                 : plus_product(self, tensor1, tensor2, value);
  return record(
      "AddcmulBackward0", std::move(out), {self, tensor1, tensor2},
      {save_if(tensor2.requires_grad(), tensor1), save_if(tensor1.requires_grad(), tensor2)},
      [value](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, d.grad() * (d.saved(1) * value));
        if (d.needs(2)) d.set(2, d.grad() * (d.saved(0) * value));
      });
}
const Tensor& InPlace::addcmul_(const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) const {
  return update("addcmul_", self(), tend::addcmul, tensor1, tensor2, value);
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  if (!is_floating(tensor1.dtype()) && !is_floating(tensor2.dtype())) {
    fail<DTypeError>("addcdiv", "integer division: tensor1 is ", tensor1.dtype(), ", tensor2 ",
                     tensor2.dtype(), "; one of them must be floating");
  }
  const DType dtype = result_type({&self.array(), &tensor1.array(), &tensor2.array()});
  check_holds("addcdiv", dtype, value);
  check_shapes("addcdiv", self, tensor1, tensor2);
  const Tensor out =
      computed(TripleFormula::addcdiv, {value.to<double>()}, dtype, self, tensor1, tensor2);
  return record("AddcdivBackward0", out.array(), {self, tensor1, tensor2},
                {save_if(tensor2.requires_grad(), tensor1), tensor2}, [value](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, d.grad() * value / d.saved(1));
                  if (d.needs(2))
                    d.set(2, -d.grad() * value * ((d.saved(0) / d.saved(1)) / d.saved(1)));
                });
}
const Tensor& InPlace::addcdiv_(const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) const {
  return update("addcdiv_", self(), tend::addcdiv, tensor1, tensor2, value);
}

namespace {

Tensor lerp(const char* name, const Tensor& self, const Tensor& end, const Tensor& weight) {
  if (end.dtype() != self.dtype() || weight.dtype() != self.dtype()) {
    fail<DTypeError>("lerp", "the dtypes differ: self is ", self.dtype(), ", end ", end.dtype(),
                     ", weight ", weight.dtype());
  }
  const Shape ends = broadcast_shapes("lerp", self.shape(), end.shape());
  Array out = Array::empty_like(broadcast_shapes("lerp", ends, weight.shape()), self.dtype(),
                                {&self.array(), &end.array(), &weight.array()});
  kernels::lerp(out, self.array(), end.array(), weight.array());
  const bool with_slope = weight.requires_grad();
  return record(name, std::move(out), {self, end, weight},
                {save_if(with_slope, self), save_if(with_slope, end), weight}, [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad() * (1 - d.saved(2)));
                  if (d.needs(1)) d.set(1, d.grad() * d.saved(2));
                  if (d.needs(2)) d.set(2, d.grad() * (d.saved(1) - d.saved(0)));
                });
}

}  // namespace

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return lerp("LerpBackward1", self, end, weight);
}
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_holds("lerp", self.dtype(), weight);
  return lerp("LerpBackward0", self, end, Tensor(Array::scalar(weight, self.dtype())));
}
const Tensor& InPlace::lerp_(const Tensor& end, const Tensor& weight) const {
  return update("lerp_", self(), tend::lerp, end, weight);
}
const Tensor& InPlace::lerp_(const Tensor& end, const Scalar& weight) const {
  return update("lerp_", self(), tend::lerp, end, weight);
}

}  // namespace tend
