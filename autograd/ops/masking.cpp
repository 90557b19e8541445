#include <tend/autograd/ops/masking.h>

#include <cmath>
#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/masking.h>

namespace tend {
namespace {

void check_mask(const char* operation, const char* what, const Tensor& mask) {
  if (mask.dtype() != boolean)
    fail<DTypeError>(operation, "the ", what, " must be bool, not ", mask.dtype());
}

// `value` as a 0-d tensor of a dtype that must hold it.
Tensor number(const Scalar& value, DType dtype) {
  check_holds("where", dtype, value);
  return Tensor(Array::scalar(value, dtype));
}

}  // namespace

std::vector<Tensor> where(const Tensor& condition) {
  return nonzero_numpy(condition);
}
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  check_mask("where", "condition", condition);
  const DType dtype = result_type(self.array(), other.array());
  const Shape shape = broadcast_shapes("where", self.shape(), other.shape());
  Array out = Array::empty_like(broadcast_shapes("where", condition.shape(), shape), dtype,
                                {&condition.array(), &self.array(), &other.array()});
  kernels::where(out, condition.array(), self.array().to(dtype), other.array().to(dtype));
  return record("WhereBackward0", std::move(out), {self, other}, {condition}, [](Derivative& d) {
    if (d.needs(0)) d.set(0, where(d.saved(0), d.grad(), 0));
    if (d.needs(1)) d.set(1, where(d.saved(0), 0, d.grad()));
  });
}

Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where(condition, self, number(other, promote_types(self.dtype(), other)));
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where(condition, number(self, promote_types(other.dtype(), self)), other);
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return where(condition, number(self, own_dtype(self)), number(other, own_dtype(other)));
}

namespace {

Array filled(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_mask("masked_fill", "mask", mask);
  check_holds("masked_fill", self.dtype(), value);
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
const Tensor& InPlace::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return update("masked_fill_", self(), tend::masked_fill, mask, value);
}
const Tensor& InPlace::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return update("masked_fill_", self(), tend::masked_fill, mask, value);
}

Tensor tril(const Tensor& self, std::int64_t diagonal) {
  const auto kernel = [=](const Array& out, const Array& x) { kernels::tril(out, x, diagonal); };
  return record("TrilBackward0", unary_row_major(self, kernel), {self}, {},
                [diagonal](Derivative& d) { d.set(0, tril(d.grad(), diagonal)); });
}
const Tensor& InPlace::tril_(std::int64_t diagonal) const {
  return update("tril_", self(), tend::tril, diagonal);
}

Tensor triu(const Tensor& self, std::int64_t diagonal) {
  const auto kernel = [=](const Array& out, const Array& x) { kernels::triu(out, x, diagonal); };
  return record("TriuBackward0", unary_row_major(self, kernel), {self}, {},
                [diagonal](Derivative& d) { d.set(0, triu(d.grad(), diagonal)); });
}
const Tensor& InPlace::triu_(std::int64_t diagonal) const {
  return update("triu_", self(), tend::triu, diagonal);
}

namespace {

// With `keeps` all elements stay, whatever the bounds are.
Tensor clamp(const char* operation, const char* name, const Tensor& self,
             const std::optional<Scalar>& lo, const std::optional<Scalar>& hi, bool keeps = false) {
  DType dtype = self.dtype();
  if (lo) dtype = promote_types(dtype, *lo);
  if (hi) dtype = promote_types(dtype, *hi);
  if (lo) check_holds(operation, dtype, *lo);
  if (hi) check_holds(operation, dtype, *hi);
  Array out = Array::empty_like(self.shape(), dtype, {&self.array()});
  if (keeps) {
    out.copy_from(self.array());
  } else {
    kernels::clamp(out, self.array().to(dtype), lo, hi);
  }
  return record(
      name, std::move(out), {self}, {self},
      [lo, hi](Derivative& d) {
        if (!grad_enabled() && d.saved(0).dtype() == d.grad().dtype()) {
          constexpr double kInfinity = std::numeric_limits<double>::infinity();
          const double low = lo ? lo->to<double>() : -kInfinity;
          const double high = hi ? hi->to<double>() : kInfinity;
          return d.set(0, sloped(d, kernels::PairFormula::clamp_backward, {low, high}));
        }
        Tensor gradient = d.grad();
        if (lo) gradient = where(d.saved(0) >= *lo, gradient, 0);
        if (hi) gradient = where(d.saved(0) <= *hi, gradient, 0);
        d.set(0, gradient);
      },
      operation);
}

// self clamped between tensors, one of which may be undefined.
Array bounded(const char* operation, const Tensor& self, const Tensor& lo, const Tensor& hi) {
  const Array& x = self.array();
  const Array& low = lo.defined() ? lo.array() : x;
  const Array& high = hi.defined() ? hi.array() : x;
  const DType dtype = result_type({&x, &low, &high});
  const Shape shape = broadcast_shapes(operation, x.shape(), low.shape());
  Array out =
      Array::empty_like(broadcast_shapes(operation, shape, high.shape()), dtype, {&x, &low, &high});
  if (lo.defined() && hi.defined()) {
    kernels::clamp(out, AsDtype(x, dtype), AsDtype(low, dtype), AsDtype(high, dtype));
    return out;
  }
  if (lo.defined()) kernels::maximum(out, x.to(dtype), low.to(dtype));
  if (hi.defined()) kernels::minimum(out, x.to(dtype), high.to(dtype));
  return out;
}

Tensor clamp(const char* operation, const char* name, const Tensor& self, const Tensor& lo,
             const Tensor& hi) {
  const bool has_lo = lo.defined(), has_hi = hi.defined();
  if (!has_lo && !has_hi) fail(operation, "needs a lower or an upper bound");
  return record(
      name, bounded(operation, self, lo, hi), {self, lo, hi}, {self, lo, hi},
      [=](Derivative& d) {
        const Tensor x = d.saved(0), low = d.saved(1), high = d.saved(2);
        if (d.needs(0)) {
          Tensor gradient = d.grad();
          if (has_lo) gradient = where(x >= low, gradient, 0);
          if (has_hi) gradient = where(x <= high, gradient, 0);
          d.set(0, gradient);
        }
        if (d.needs(1)) {
          const Tensor below = has_hi ? logical_and(x < low, low < high) : x < low;
          d.set(1, where(below, d.grad(), 0));
        }
        if (d.needs(2)) {
          const Tensor above = has_lo ? logical_or(x > high, high < low) : x > high;
          d.set(2, where(above, d.grad(), 0));
        }
      },
      operation);
}

}  // namespace

Tensor clamp(const Tensor& self, const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) {
  // One bound that is NaN says nothing, as in PyTorch, where two of them make everything NaN.
  const bool keeps = lo.has_value() != hi.has_value() && std::isnan((lo ? *lo : *hi).to<double>());
  return clamp("clamp", "ClampBackward1", self, lo, hi, keeps);
}
Tensor clamp(const Tensor& self, const Tensor& lo, const Tensor& hi) {
  return clamp("clamp", "ClampBackward0", self, lo, hi);
}
const Tensor& InPlace::clamp_(const std::optional<Scalar>& lo,
                              const std::optional<Scalar>& hi) const {
  return update("clamp_", self(), tend::clamp, lo, hi);
}
const Tensor& InPlace::clamp_(const Tensor& lo, const Tensor& hi) const {
  return update("clamp_", self(), tend::clamp, lo, hi);
}
Tensor clip(const Tensor& self, const std::optional<Scalar>& lo,
            const std::optional<Scalar>& hi) try {
  return clamp(self, lo, hi);
} catch (const Error&) {
  rename_error("clip");
}
Tensor clip(const Tensor& self, const Tensor& lo, const Tensor& hi) try {
  return clamp(self, lo, hi);
} catch (const Error&) {
  rename_error("clip");
}
const Tensor& InPlace::clip_(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) const
    try {
  return clamp_(lo, hi);
} catch (const Error&) {
  rename_error("clip_");
}
const Tensor& InPlace::clip_(const Tensor& lo, const Tensor& hi) const try {
  return clamp_(lo, hi);
} catch (const Error&) {
  rename_error("clip_");
}

Tensor clamp_min(const Tensor& self, const Scalar& lo) {
  return clamp("clamp_min", "ClampMinBackward0", self, lo, std::nullopt);
}
Tensor clamp_min(const Tensor& self, const Tensor& lo) {
  return clamp("clamp_min", "ClampMinBackward1", self, lo, {});
}
const Tensor& InPlace::clamp_min_(const Scalar& lo) const {
  return update("clamp_min_", self(), tend::clamp_min, lo);
}
const Tensor& InPlace::clamp_min_(const Tensor& lo) const {
  return update("clamp_min_", self(), tend::clamp_min, lo);
}
Tensor clamp_max(const Tensor& self, const Scalar& hi) {
  return clamp("clamp_max", "ClampMaxBackward0", self, std::nullopt, hi);
}
Tensor clamp_max(const Tensor& self, const Tensor& hi) {
  return clamp("clamp_max", "ClampMaxBackward1", self, {}, hi);
}
const Tensor& InPlace::clamp_max_(const Scalar& hi) const {
  return update("clamp_max_", self(), tend::clamp_max, hi);
}
const Tensor& InPlace::clamp_max_(const Tensor& hi) const {
  return update("clamp_max_", self(), tend::clamp_max, hi);
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!is_floating(self.dtype())) return clone(self);
  const double largest = self.dtype() == float32 ? double{std::numeric_limits<float>::max()}
                                                 : std::numeric_limits<double>::max();
  const auto kernel = [&](const Array& out, const Array& x) {
    kernels::nan_to_num(out, x, nan.value_or(0), posinf.value_or(largest),
                        neginf.value_or(-largest));
  };
  return record("NanToNumBackward0", unary(self, kernel), {self}, {self}, [](Derivative& d) {
    if (!grad_enabled()) return d.set(0, sloped(d, kernels::PairFormula::nan_to_num_backward));
    d.set(0, masked_fill(d.grad(), logical_not(isfinite(d.saved(0))), 0));
  });
}
const Tensor& InPlace::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                                   std::optional<double> neginf) const {
  return update("nan_to_num_", self(), tend::nan_to_num, nan, posinf, neginf);
}

}  // namespace tend
