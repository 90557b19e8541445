#include <tend/autograd/ops/compare.h>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/compare.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {
namespace {

using CompareKernel = void (*)(const Array& out, const Array& a, const Array& b);
using TestKernel = void (*)(const Array& out, const Array& a);

Tensor compare(const char* operation, CompareKernel kernel, const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(a.array(), b.array());
  Array out = empty_for(operation, boolean, a, b);
  kernel(out, AsDtype(a.array(), dtype), AsDtype(b.array(), dtype));
  return constant(std::move(out), {a, b}, operation);
}

// Runs an in-place form, which writes 1 or 0 in self's dtype. The gradients are zero.
template <class Compute, class... Inputs>
const Tensor& truths_in_place(const char* operation, const char* node, const Tensor& self,
                              Compute compute, const Inputs&... inputs) {
  return in_place_form(operation, self, [&](const Form&) {
    const TensorRefs refs = {inputs...};
    InPlaceRun run(operation, boolean, refs, {});
    compute(run);
    if (!run.is_recorded() || !is_floating(self.dtype())) return run.finish();
    run.finish(
        record(node, run.elements().to(self.dtype()), run.inputs(), {}, zero_gradient, operation));
  });
}
// `other` may be a tensor that was made from a number.
const Tensor& compare_in_place(const char* operation, const char* node, CompareKernel kernel,
                               const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  const auto compute = [&](InPlaceRun& run) {
    kernel(run.elements(), AsDtype(run.input(0), dtype), AsDtype(run.input(1), dtype));
  };
  return truths_in_place(operation, node, self, compute, self, other);
}

Tensor test(TestKernel kernel, const Tensor& self) {
  Array out = Array::empty_like(self.shape(), boolean, {&self.array()});
  kernel(out, self.array());
  return Tensor(std::move(out));
}

bool all_true(const Tensor& mask) {
  const Array out = Array::empty({}, boolean);
  kernels::all(out, mask.array(), wrap_dims("all", {}, mask.dim()));
  return out.item<bool>();
}

}  // namespace

#define TEND_TABLE <tend/autograd/ops/compare_table.h>
#define TEND_ROWS_DEFINE
#include <tend/autograd/ops/row_forms.h>

Tensor logical_not(const Tensor& self) {
  return test(kernels::logical_not, self);
}
const Tensor& InPlace::logical_not_() const {
  const auto compute = [](InPlaceRun& run) { kernels::logical_not(run.elements(), run.input(0)); };
  return truths_in_place("logical_not_", "LogicalNotBackward0", self(), compute, self());
}

namespace {

constexpr UnaryRow kBitwiseNot{nullptr, Promotion::same, kernels::bitwise_not};

}  // namespace

Tensor bitwise_not(const Tensor& self) {
  return run_row({"bitwise_not"}, kBitwiseNot, self);
}
const Tensor& InPlace::bitwise_not_() const {
  return in_place_form_of_row("bitwise_not_", kBitwiseNot, self());
}
Tensor operator~(const Tensor& a) {
  return bitwise_not(a);
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, Flag equal_nan) {
  if (self.dtype() != other.dtype())
    fail<DTypeError>("isclose", "the dtypes differ: ", self.dtype(), " and ", other.dtype());
  if (!(rtol >= 0) || !(atol >= 0))
    fail("isclose", "the tolerances must not be negative: rtol = ", rtol, ", atol = ", atol);
  broadcast_shapes("isclose", self.shape(), other.shape());
  const NoGradGuard no_graph;
  Tensor close = self == other;
  if (equal_nan) close = logical_or(close, logical_and(isnan(self), isnan(other)));
  if (rtol == 0 && atol == 0) return close;  // exact, even for an int64 that float32 cannot hold
  const DType dtype = to_floating(self.dtype());
  const Tensor error = abs(to(self, dtype) - to(other, dtype));
  const Tensor allowed = atol + abs(rtol * to(other, dtype));
  // Without isfinite, infinity would be close to every number.
  return logical_or(close, logical_and(isfinite(error), error <= allowed));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, Flag equal_nan) {
  return all_true(isclose(self, other, rtol, atol, equal_nan));
}

bool equal(const Tensor& self, const Tensor& other) {
  return self.shape() == other.shape() && all_true(eq(self, other));
}

}  // namespace tend
