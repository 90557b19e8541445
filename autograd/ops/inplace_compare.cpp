// The in-place twins of comparison and logic.
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::methods {
namespace {

// self = compare(self, other) in self's dtype; the gradient is zero.
template <class Compare>
const Tensor& compare_in_place(const char* operation, const char* node, const Tensor& self,
                               TensorRefs inputs, Compare compare) {
  return in_place(operation, self, inputs, [&](const Tensor& before) {
    Array result = compare(before).array().to(self.dtype());
    if (!is_floating(self.dtype())) return Tensor(std::move(result));
    return record(node, std::move(result), {before}, {}, zero_gradient);
  });
}

}  // namespace

const Tensor& InPlace::eq_(const Tensor& other) const {
  return compare_in_place("eq_", "EqBackward1", self(), {other},
                          [&](const Tensor& self) { return tend::eq(self, other); });
}
const Tensor& InPlace::eq_(const Scalar& other) const {
  return compare_in_place("eq_", "EqBackward0", self(), {},
                          [&](const Tensor& self) { return tend::eq(self, other); });
}

const Tensor& InPlace::ne_(const Tensor& other) const {
  return compare_in_place("ne_", "NeBackward1", self(), {other},
                          [&](const Tensor& self) { return tend::ne(self, other); });
}
const Tensor& InPlace::ne_(const Scalar& other) const {
  return compare_in_place("ne_", "NeBackward0", self(), {},
                          [&](const Tensor& self) { return tend::ne(self, other); });
}

const Tensor& InPlace::lt_(const Tensor& other) const {
  return compare_in_place("lt_", "LtBackward1", self(), {other},
                          [&](const Tensor& self) { return tend::lt(self, other); });
}
const Tensor& InPlace::lt_(const Scalar& other) const {
  return compare_in_place("lt_", "LtBackward0", self(), {},
                          [&](const Tensor& self) { return tend::lt(self, other); });
}

const Tensor& InPlace::le_(const Tensor& other) const {
  return compare_in_place("le_", "LeBackward1", self(), {other},
                          [&](const Tensor& self) { return tend::le(self, other); });
}
const Tensor& InPlace::le_(const Scalar& other) const {
  return compare_in_place("le_", "LeBackward0", self(), {},
                          [&](const Tensor& self) { return tend::le(self, other); });
}

const Tensor& InPlace::gt_(const Tensor& other) const {
  return compare_in_place("gt_", "GtBackward1", self(), {other},
                          [&](const Tensor& self) { return tend::gt(self, other); });
}
const Tensor& InPlace::gt_(const Scalar& other) const {
  return compare_in_place("gt_", "GtBackward0", self(), {},
                          [&](const Tensor& self) { return tend::gt(self, other); });
}

const Tensor& InPlace::ge_(const Tensor& other) const {
  return compare_in_place("ge_", "GeBackward1", self(), {other},
                          [&](const Tensor& self) { return tend::ge(self, other); });
}
const Tensor& InPlace::ge_(const Scalar& other) const {
  return compare_in_place("ge_", "GeBackward0", self(), {},
                          [&](const Tensor& self) { return tend::ge(self, other); });
}

const Tensor& InPlace::logical_and_(const Tensor& other) const {
  return compare_in_place("logical_and_", "LogicalAndBackward0", self(), {other},
                          [&](const Tensor& self) { return tend::logical_and(self, other); });
}
const Tensor& InPlace::logical_or_(const Tensor& other) const {
  return compare_in_place("logical_or_", "LogicalOrBackward0", self(), {other},
                          [&](const Tensor& self) { return tend::logical_or(self, other); });
}
const Tensor& InPlace::logical_xor_(const Tensor& other) const {
  return compare_in_place("logical_xor_", "LogicalXorBackward0", self(), {other},
                          [&](const Tensor& self) { return tend::logical_xor(self, other); });
}
const Tensor& InPlace::logical_not_() const {
  return compare_in_place("logical_not_", "LogicalNotBackward0", self(), {},
                          [](const Tensor& self) { return tend::logical_not(self); });
}

}  // namespace tend::methods
