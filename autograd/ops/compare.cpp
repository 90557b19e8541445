#include <tend/autograd/ops/compare.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/compare.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {
namespace {

template <class Kernel>
Tensor compare(const char* operation, const Tensor& a, const Tensor& b, Kernel kernel) {
  const DType dtype = result_type(a.array(), b.array());
  return constant(broadcast_binary(operation, a, b, kernel, dtype, boolean), {a, b}, operation);
}

template <class Kernel>
Tensor test(const Tensor& self, Kernel kernel) {
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

Tensor eq(const Tensor& self, const Tensor& other) {
  return compare("eq", self, other, kernels::eq);
}
Tensor ne(const Tensor& self, const Tensor& other) {
  return compare("ne", self, other, kernels::ne);
}
Tensor lt(const Tensor& self, const Tensor& other) {
  return compare("lt", self, other, kernels::lt);
}
Tensor le(const Tensor& self, const Tensor& other) {
  return compare("le", self, other, kernels::le);
}
Tensor gt(const Tensor& self, const Tensor& other) {
  return compare("gt", self, other, kernels::gt);
}
Tensor ge(const Tensor& self, const Tensor& other) {
  return compare("ge", self, other, kernels::ge);
}

Tensor logical_and(const Tensor& self, const Tensor& other) {
  return compare("logical_and", self, other, kernels::logical_and);
}
Tensor logical_or(const Tensor& self, const Tensor& other) {
  return compare("logical_or", self, other, kernels::logical_or);
}
Tensor logical_xor(const Tensor& self, const Tensor& other) {
  return compare("logical_xor", self, other, kernels::logical_xor);
}
Tensor logical_not(const Tensor& self) {
  return test(self, kernels::logical_not);
}

namespace {

template <class Kernel>
Tensor bitwise(const char* operation, const Tensor& a, const Tensor& b, Kernel kernel) {
  return constant(broadcast_binary(operation, a, b, kernel, result_type(a.array(), b.array())),
                  {a, b}, operation);
}

}  // namespace

Tensor bitwise_and(const Tensor& self, const Tensor& other) {
  return bitwise("bitwise_and", self, other, kernels::bitwise_and);
}
Tensor bitwise_or(const Tensor& self, const Tensor& other) {
  return bitwise("bitwise_or", self, other, kernels::bitwise_or);
}
Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
  return bitwise("bitwise_xor", self, other, kernels::bitwise_xor);
}

namespace {

// The other side of a comparison as a tensor whose gradient the result records; a number has none.
Tensor recorded(const Tensor& other) {
  return other;
}
Tensor recorded(const Scalar& /*other*/) {
  return {};
}

// self = compare(self, other) in self's dtype; the gradients are zero.
template <class... Other>
const Tensor& compare_in_place(const char* operation, const char* node, const Tensor& self,
                               Tensor (*compare)(const Tensor&, const Other&...),
                               const Other&... other) {
  Tensor side;
  ((side = recorded(other)), ...);
  return in_place(operation, self, {side}, [&](const Tensor& before) {
    Array result = compare(before, other...).array().to(self.dtype());
    if (!is_floating(self.dtype())) return Tensor(std::move(result));
    return record(node, std::move(result), {before, side}, {}, zero_gradient, operation);
  });
}

}  // namespace

// The overloads with a number, and the operators; `MIRRORED` is the function with its sides
// swapped.
#define TEND_FORMS(NAME, OP, MIRRORED)                   \
  Tensor NAME(const Tensor& self, const Scalar& other) { \
    return NAME(self, number_like(self, other));         \
  }                                                      \
  Tensor operator OP(const Tensor& a, const Tensor& b) { \
    return NAME(a, b);                                   \
  }                                                      \
  Tensor operator OP(const Tensor& a, const Scalar& b) { \
    return NAME(a, b);                                   \
  }                                                      \
  Tensor operator OP(const Scalar& a, const Tensor& b) { \
    return MIRRORED(b, a);                               \
  }
TEND_FORMS(eq, ==, eq)
TEND_FORMS(ne, !=, ne)
TEND_FORMS(lt, <, gt)
TEND_FORMS(le, <=, ge)
TEND_FORMS(gt, >, lt)
TEND_FORMS(ge, >=, le)
TEND_FORMS(bitwise_and, &, bitwise_and)
TEND_FORMS(bitwise_or, |, bitwise_or)
TEND_FORMS(bitwise_xor, ^, bitwise_xor)
#undef TEND_FORMS

#define TEND_TWIN(NAME, OTHER, NODE)                                            \
  const Tensor& InPlace::NAME##_(const OTHER& other) const {                    \
    return compare_in_place<OTHER>(#NAME "_", NODE, self(), tend::NAME, other); \
  }
TEND_TWIN(eq, Tensor, "EqBackward1")
TEND_TWIN(eq, Scalar, "EqBackward0")
TEND_TWIN(ne, Tensor, "NeBackward1")
TEND_TWIN(ne, Scalar, "NeBackward0")
TEND_TWIN(lt, Tensor, "LtBackward1")
TEND_TWIN(lt, Scalar, "LtBackward0")
TEND_TWIN(le, Tensor, "LeBackward1")
TEND_TWIN(le, Scalar, "LeBackward0")
TEND_TWIN(gt, Tensor, "GtBackward1")
TEND_TWIN(gt, Scalar, "GtBackward0")
TEND_TWIN(ge, Tensor, "GeBackward1")
TEND_TWIN(ge, Scalar, "GeBackward0")
TEND_TWIN(logical_and, Tensor, "LogicalAndBackward0")
TEND_TWIN(logical_or, Tensor, "LogicalOrBackward0")
TEND_TWIN(logical_xor, Tensor, "LogicalXorBackward0")
#undef TEND_TWIN
const Tensor& InPlace::logical_not_() const {
  return compare_in_place<>("logical_not_", "LogicalNotBackward0", self(), tend::logical_not);
}

#define TEND_TWINS(NAME)                                      \
  const Tensor& InPlace::NAME##_(const Tensor& other) const { \
    return update(#NAME "_", self(), tend::NAME, other);      \
  }                                                           \
  const Tensor& InPlace::NAME##_(const Scalar& other) const { \
    return update(#NAME "_", self(), tend::NAME, other);      \
  }
TEND_TWINS(bitwise_and)
TEND_TWINS(bitwise_or)
TEND_TWINS(bitwise_xor)
#undef TEND_TWINS

Tensor bitwise_not(const Tensor& self) {
  return constant(unary(self, kernels::bitwise_not, false), {self});
}
const Tensor& InPlace::bitwise_not_() const {
  return update("bitwise_not_", self(), tend::bitwise_not);
}
Tensor operator~(const Tensor& a) {
  return bitwise_not(a);
}

Tensor isnan(const Tensor& self) {
  return test(self, kernels::isnan);
}
Tensor isinf(const Tensor& self) {
  return test(self, kernels::isinf);
}
Tensor isfinite(const Tensor& self) {
  return test(self, kernels::isfinite);
}

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol,
               Flag equal_nan) try {
  if (self.dtype() != other.dtype())
    fail<DTypeError>("isclose", "the dtypes differ: ", self.dtype(), " and ", other.dtype());
  if (!(rtol >= 0) || !(atol >= 0))
    fail("isclose", "the tolerances must not be negative: rtol = ", rtol, ", atol = ", atol);
  const NoGradGuard no_graph;
  Tensor close = self == other;
  if (equal_nan) close = logical_or(close, logical_and(isnan(self), isnan(other)));
  if (rtol == 0 && atol == 0) return close;  // exact, also for int64 that float32 cannot hold
  const DType dtype = to_floating(self.dtype());
  const Tensor error = abs(to(self, dtype) - to(other, dtype));
  const Tensor allowed = atol + abs(rtol * to(other, dtype));
  // Without isfinite, infinity would be close to every number.
  return logical_or(close, logical_and(isfinite(error), error <= allowed));
} catch (const Error&) {
  rename_error("isclose");
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, Flag equal_nan) {
  return all_true(isclose(self, other, rtol, atol, equal_nan));
}

bool equal(const Tensor& self, const Tensor& other) {
  return self.shape() == other.shape() && all_true(eq(self, other));
}

}  // namespace tend
