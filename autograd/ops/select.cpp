#include <tend/autograd/ops/select.h>

#include <cmath>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/select.h>

namespace tend {
namespace {

void check_mask(const char* operation, const char* what, const Tensor& mask) {
  if (mask.dtype() != boolean)
    fail<DTypeError>(operation, "the ", what, " must be bool, not ", mask.dtype());
}

// A number by itself: floating ones are float32.
Tensor number(const Scalar& value) {
  return Tensor(Array::scalar(value, value.dtype() == float64 ? float32 : value.dtype()));
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  check_mask("where", "condition", condition);
  const DType dtype = result_type(self.array(), other.array());
  const Shape shape = broadcast_shapes("where", self.shape(), other.shape());
  Array out = Array::empty(broadcast_shapes("where", condition.shape(), shape), dtype);
  kernels::where(out, condition.array(), self.array().to(dtype), other.array().to(dtype));
  return record("WhereBackward0", std::move(out), {self, other}, {condition}, [](Derivative& d) {
    if (d.needs(0)) d.set(0, where(d.saved(0), d.grad(), 0));
    if (d.needs(1)) d.set(1, where(d.saved(0), 0, d.grad()));
  });
}

Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where(condition, self, number_like(self, other));
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where(condition, number_like(other, self), other);
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return where(condition, number(self), number(other));
}

namespace {

Array filled(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_mask("masked_fill", "mask", mask);
  const double size = std::abs(value.to<double>());
  if (self.dtype() == int64 && value.dtype() == float64 && !(size < 0x1p63))
    fail<DTypeError>("masked_fill", "int64 cannot hold the value ", value.to<double>());
  Array out =
      Array::empty(broadcast_shapes("masked_fill", self.shape(), mask.shape()), self.dtype());
  kernels::masked_fill(out, self.array(), mask.array(), value);
  return out;
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return record("MaskedFillBackward0", filled(self, mask, value), {self}, {mask},
                [](Derivative& d) { d.set(0, masked_fill(d.grad(), d.saved(0), 0)); });
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (value.dim() != 0)
    fail<ShapeError>("masked_fill", "the value must be a 0-d tensor, not ", value.shape());
  const Scalar number =
      is_floating(value.dtype()) ? Scalar(value.item()) : Scalar(value.item<std::int64_t>());
  return record("MaskedFillBackward1", filled(self, mask, number), {self, value}, {mask},
                [](Derivative& d) {
                  if (d.needs(0)) d.set(0, masked_fill(d.grad(), d.saved(0), 0));
                  if (d.needs(1)) d.set(1, where(d.saved(0), d.grad(), 0));
                });
}

Tensor tril(const Tensor& self, std::int64_t diagonal) {
  const auto kernel = [=](const Array& out, const Array& x) { kernels::tril(out, x, diagonal); };
  return record("TrilBackward0", unary(self, kernel, false), {self}, {},
                [diagonal](Derivative& d) { d.set(0, tril(d.grad(), diagonal)); });
}

Tensor triu(const Tensor& self, std::int64_t diagonal) {
  const auto kernel = [=](const Array& out, const Array& x) { kernels::triu(out, x, diagonal); };
  return record("TriuBackward0", unary(self, kernel, false), {self}, {},
                [diagonal](Derivative& d) { d.set(0, triu(d.grad(), diagonal)); });
}

Tensor clamp(const Tensor& self, const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) {
  DType dtype = self.dtype();
  if (lo) dtype = promote_types(dtype, *lo);
  if (hi) dtype = promote_types(dtype, *hi);
  Array out = Array::empty(self.shape(), dtype);
  kernels::clamp(out, self.array().to(dtype), lo, hi);
  return record("ClampBackward1", std::move(out), {self}, {self}, [lo, hi](Derivative& d) {
    Tensor gradient = d.grad();
    if (lo) gradient = where(d.saved(0) >= *lo, gradient, 0);
    if (hi) gradient = where(d.saved(0) <= *hi, gradient, 0);
    d.set(0, gradient);
  });
}

}  // namespace tend
