#include <tend/autograd/ops/masking.h>

#include <cmath>
#include <limits>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/masking.h>

namespace tend {
namespace {

void check_mask(const char* operation, const char* what, const Tensor& mask) {
  if (mask.dtype() != boolean)
    fail<DTypeError>(operation, "the ", what, " must be bool, not ", mask.dtype());
}

// Returns `value` as a 0-d tensor. Throws a DTypeError if the dtype cannot hold `value`.
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

template <class F>
Tensor masked_fill(const Form& form, const char* node, const Tensor& self, const Tensor& mask,
                   const Scalar& number, TensorRef value, F derivative) {
  check_mask(form.operation, "mask", mask);
  check_holds(form.operation, self.dtype(), number);
  const Shape shape = broadcast_shapes(form.operation, self.shape(), mask.shape());
  const auto fill = [&](const Array& out, const auto& input) {
    // The mask of the in-place form may be a view of self.
    const bool is_apart = !mask.array().may_overlap(out);
    const Array masks = is_apart ? mask.array() : mask.array().clone();
    kernels::masked_fill(out, input(0), masks, number);
  };
  if (form.in_place && shape != self.shape()) {
    fail<ShapeError>(form.operation,
                     "the result of an in-place operation must have the tensor's shape ",
                     self.shape(), ", but has shape ", shape);
  }
  return run(
      form, node, self.dtype(), {self, value}, {mask},
      [&] { return Array::empty(shape, self.dtype()); }, fill, derivative);
}

Tensor masked_fill(const Form& form, const Tensor& self, const Tensor& mask, const Scalar& value) {
  return masked_fill(form, "MaskedFillBackward0", self, mask, value, {},
                     [](Derivative& d) { d.set(0, tend::masked_fill(d.grad(), d.saved(0), 0)); });
}

Tensor masked_fill(const Form& form, const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (value.dim() != 0)
    fail<ShapeError>(form.operation, "the value must be a 0-d tensor, not ", value.shape());
  const Scalar number =
      is_floating(value.dtype()) ? Scalar(value.item()) : Scalar(value.item<std::int64_t>());
  return masked_fill(form, "MaskedFillBackward1", self, mask, number, value, [](Derivative& d) {
    if (d.needs(0)) d.set(0, tend::masked_fill(d.grad(), d.saved(0), 0));
    if (d.needs(1)) d.set(1, where(d.saved(0), d.grad(), 0));
  });
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return masked_fill({"masked_fill"}, self, mask, value);
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return masked_fill({"masked_fill"}, self, mask, value);
}
const Tensor& InPlace::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return in_place_form("masked_fill_", self(),
                       [&](const Form& form) { masked_fill(form, self(), mask, value); });
}
const Tensor& InPlace::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return in_place_form("masked_fill_", self(),
                       [&](const Form& form) { masked_fill(form, self(), mask, value); });
}

namespace {

template <class Kernel>
Tensor triangle(const Form& form, const char* node, const Tensor& self, Kernel kernel,
                Tensor (*again)(const Tensor&, std::int64_t), std::int64_t diagonal) {
  return run(
      form, node, self.dtype(), {self}, {},
      [&] { return Array::empty(self.shape(), self.dtype()); },
      [&](const Array& out, const auto& input) { kernel(out, input(0), diagonal); },
      [=](Derivative& d) { d.set(0, again(d.grad(), diagonal)); });
}

}  // namespace

Tensor tril(const Tensor& self, std::int64_t diagonal) {
  return triangle({"tril"}, "TrilBackward0", self, kernels::tril, tend::tril, diagonal);
}
const Tensor& InPlace::tril_(std::int64_t diagonal) const {
  return in_place_form("tril_", self(), [&](const Form& form) {
    triangle(form, "TrilBackward0", self(), kernels::tril, tend::tril, diagonal);
  });
}

Tensor triu(const Tensor& self, std::int64_t diagonal) {
  return triangle({"triu"}, "TriuBackward0", self, kernels::triu, tend::triu, diagonal);
}
const Tensor& InPlace::triu_(std::int64_t diagonal) const {
  return in_place_form("triu_", self(), [&](const Form& form) {
    triangle(form, "TriuBackward0", self(), kernels::triu, tend::triu, diagonal);
  });
}

namespace {

// Bounds that are numbers. Either may be left out.
struct NumberBounds {
  std::optional<Scalar> lo, hi;
};

Tensor clamp(const Form& form, const char* node, const Tensor& self, const NumberBounds& bounds,
             bool keeps = false) {
  const auto& [lo, hi] = bounds;
  if (!lo && !hi) fail(form.operation, "needs a lower or an upper bound");
  DType dtype = self.dtype();
  for (const std::optional<Scalar>& bound : {lo, hi}) {
    if (bound) dtype = promote_types(dtype, *bound);
  }
  for (const std::optional<Scalar>& bound : {lo, hi}) {
    if (bound) check_holds(form.operation, dtype, *bound);
  }
  const auto kernel = [&](const Array& out, const Array& x) {
    keeps ? out.copy_from(x) : kernels::clamp(out, x, bounds.lo, bounds.hi);
  };
  const auto gradient = [bounds](Derivative& d) {
    const auto& [low, high] = bounds;
    if (!grad_enabled() && d.saved(0).dtype() == d.grad().dtype()) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const kernels::Parameters limits{low ? low->to<double>() : -kInfinity,
                                       high ? high->to<double>() : kInfinity};
      return d.set(0, sloped(d, kernels::PairFormula::clamp_backward, limits));
    }
    Tensor inside = d.grad();
    if (low) inside = where(d.saved(0) >= *low, inside, 0);
    if (high) inside = where(d.saved(0) <= *high, inside, 0);
    d.set(0, inside);
  };
  return elementwise(form, node, dtype, kernel, {self}, gradient, self);
}

// Clamps between numbers. As in PyTorch, a bound that is NaN changes nothing if it is the only
// bound. With two bounds, it makes everything NaN.
Tensor clamp(const Form& form, const Tensor& self, const std::optional<Scalar>& lo,
             const std::optional<Scalar>& hi) {
  const bool keeps = lo.has_value() != hi.has_value() && std::isnan((lo ? *lo : *hi).to<double>());
  return clamp(form, "ClampBackward1", self, {lo, hi}, keeps);
}

// Clamps between tensors, one of which may be undefined.
Tensor clamp(const Form& form, const char* node, const Tensor& self, const Tensor& lo,
             const Tensor& hi) {
  const bool has_lo = lo.defined(), has_hi = hi.defined();
  if (!has_lo && !has_hi) fail(form.operation, "needs a lower or an upper bound");
  const Tensor &low = has_lo ? lo : self, &high = has_hi ? hi : self;
  const DType dtype = result_type({&self.array(), &low.array(), &high.array()});
  const auto allocate = [&] { return empty_for(form.operation, dtype, self, low, high); };
  const auto kernel = [&](const Array& out, const auto& input) {
    const AsDtype x(input(0), dtype);
    if (has_lo && has_hi) {
      kernels::clamp(out, x, AsDtype(input(1), dtype), AsDtype(input(2), dtype));
    } else if (has_lo) {
      kernels::maximum(out, x, AsDtype(input(1), dtype));
    } else {
      kernels::minimum(out, x, AsDtype(input(2), dtype));
    }
  };
  return run(form, node, dtype, {self, lo, hi}, {self, lo, hi}, allocate, kernel,
             [=](Derivative& d) {
               const Tensor x = d.saved(0), from = d.saved(1), to = d.saved(2);
               if (d.needs(0)) {
                 Tensor gradient = d.grad();
                 if (has_lo) gradient = where(x >= from, gradient, 0);
                 if (has_hi) gradient = where(x <= to, gradient, 0);
                 d.set(0, gradient);
               }
               if (d.needs(1)) {
                 const Tensor below = has_hi ? logical_and(x < from, from < to) : x < from;
                 d.set(1, where(below, d.grad(), 0));
               }
               if (d.needs(2)) {
                 const Tensor above = has_lo ? logical_or(x > to, to < from) : x > to;
                 d.set(2, where(above, d.grad(), 0));
               }
             });
}

}  // namespace

Tensor clamp(const Tensor& self, const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) {
  return clamp({"clamp"}, self, lo, hi);
}
Tensor clamp(const Tensor& self, const Tensor& lo, const Tensor& hi) {
  return clamp({"clamp"}, "ClampBackward0", self, lo, hi);
}
const Tensor& InPlace::clamp_(const std::optional<Scalar>& lo,
                              const std::optional<Scalar>& hi) const {
  return in_place_form("clamp_", self(), [&](const Form& form) { clamp(form, self(), lo, hi); });
}
const Tensor& InPlace::clamp_(const Tensor& lo, const Tensor& hi) const {
  return in_place_form("clamp_", self(),
                       [&](const Form& form) { clamp(form, "ClampBackward0", self(), lo, hi); });
}
Tensor clip(const Tensor& self, const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) {
  return clamp({"clip"}, self, lo, hi);
}
Tensor clip(const Tensor& self, const Tensor& lo, const Tensor& hi) {
  return clamp({"clip"}, "ClampBackward0", self, lo, hi);
}
const Tensor& InPlace::clip_(const std::optional<Scalar>& lo,
                             const std::optional<Scalar>& hi) const {
  return clamp_(lo, hi);
}
const Tensor& InPlace::clip_(const Tensor& lo, const Tensor& hi) const {
  return clamp_(lo, hi);
}

Tensor clamp_min(const Tensor& self, const Scalar& lo) {
  return clamp({"clamp_min"}, "ClampMinBackward0", self, {lo, {}});
}
Tensor clamp_min(const Tensor& self, const Tensor& lo) {
  return clamp({"clamp_min"}, "ClampMinBackward1", self, lo, {});
}
const Tensor& InPlace::clamp_min_(const Scalar& lo) const {
  return in_place_form("clamp_min_", self(), [&](const Form& form) {
    clamp(form, "ClampMinBackward0", self(), {lo, {}});
  });
}
const Tensor& InPlace::clamp_min_(const Tensor& lo) const {
  return in_place_form("clamp_min_", self(),
                       [&](const Form& form) { clamp(form, "ClampMinBackward1", self(), lo, {}); });
}
Tensor clamp_max(const Tensor& self, const Scalar& hi) {
  return clamp({"clamp_max"}, "ClampMaxBackward0", self, {{}, hi});
}
Tensor clamp_max(const Tensor& self, const Tensor& hi) {
  return clamp({"clamp_max"}, "ClampMaxBackward1", self, {}, hi);
}
const Tensor& InPlace::clamp_max_(const Scalar& hi) const {
  return in_place_form("clamp_max_", self(), [&](const Form& form) {
    clamp(form, "ClampMaxBackward0", self(), {{}, hi});
  });
}
const Tensor& InPlace::clamp_max_(const Tensor& hi) const {
  return in_place_form("clamp_max_", self(),
                       [&](const Form& form) { clamp(form, "ClampMaxBackward1", self(), {}, hi); });
}

namespace {

Tensor nan_to_num(const Form& form, const Tensor& self, std::optional<double> nan,
                  std::optional<double> posinf, std::optional<double> neginf) {
  const double largest = self.dtype() == float32 ? double{std::numeric_limits<float>::max()}
                                                 : std::numeric_limits<double>::max();
  const auto kernel = [&](const Array& out, const Array& x) {
    if (!is_floating(x.dtype())) return out.copy_from(x);
    kernels::nan_to_num(out, x, nan.value_or(0), posinf.value_or(largest),
                        neginf.value_or(-largest));
  };
  return elementwise(
      form, "NanToNumBackward0", self.dtype(), kernel, {self},
      [](Derivative& d) {
        if (!grad_enabled()) return d.set(0, sloped(d, kernels::PairFormula::nan_to_num_backward));
        d.set(0, masked_fill(d.grad(), logical_not(isfinite(d.saved(0))), 0));
      },
      self);
}

}  // namespace

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  return nan_to_num({"nan_to_num"}, self, nan, posinf, neginf);
}
const Tensor& InPlace::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                                   std::optional<double> neginf) const {
  return in_place_form("nan_to_num_", self(),
                       [&](const Form& form) { nan_to_num(form, self(), nan, posinf, neginf); });
}

}  // namespace tend
