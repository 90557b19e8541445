// Methods of Tensor: functions of each element by itself. Each calls the free function of its name,
// which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/ops.h>

namespace tend::methods {

/// A base of Tensor, which stands in its place as the template's argument.
template <class Tensor>
class Elementwise {
 public:
  // Arithmetic.

  Tensor add(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::add(self(), other, alpha);
  }
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::sub(self(), other, alpha);
  }
  Tensor mul(const Tensor& other) const { return tend::mul(self(), other); }
  Tensor div(const Tensor& other) const { return tend::div(self(), other); }
  Tensor positive() const { return tend::positive(self()); }
  Tensor neg() const { return tend::neg(self()); }
  Tensor floor_divide(const Tensor& other) const { return tend::floor_divide(self(), other); }
  Tensor floor_divide(const Scalar& other) const { return tend::floor_divide(self(), other); }
  Tensor remainder(const Tensor& other) const { return tend::remainder(self(), other); }
  Tensor remainder(const Scalar& other) const { return tend::remainder(self(), other); }
  Tensor fmod(const Tensor& other) const { return tend::fmod(self(), other); }
  Tensor fmod(const Scalar& other) const { return tend::fmod(self(), other); }
  Tensor pow(const Tensor& exponent) const { return tend::pow(self(), exponent); }
  Tensor pow(const Scalar& exponent) const { return tend::pow(self(), exponent); }
  Tensor square() const { return tend::square(self()); }
  Tensor reciprocal() const { return tend::reciprocal(self()); }
  Tensor maximum(const Tensor& other) const { return tend::maximum(self(), other); }
  Tensor minimum(const Tensor& other) const { return tend::minimum(self(), other); }
  Tensor abs() const { return tend::abs(self()); }
  Tensor sign() const { return tend::sign(self()); }
  Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const {
    return tend::addcmul(self(), tensor1, tensor2, value);
  }
  Tensor addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const {
    return tend::addcdiv(self(), tensor1, tensor2, value);
  }
  Tensor lerp(const Tensor& end, const Tensor& weight) const {
    return tend::lerp(self(), end, weight);
  }
  Tensor lerp(const Tensor& end, const Scalar& weight) const {
    return tend::lerp(self(), end, weight);
  }

  // Functions of one and of two variables.

  Tensor exp() const { return tend::exp(self()); }
  Tensor exp2() const { return tend::exp2(self()); }
  Tensor expm1() const { return tend::expm1(self()); }
  Tensor log() const { return tend::log(self()); }
  Tensor log2() const { return tend::log2(self()); }
  Tensor log10() const { return tend::log10(self()); }
  Tensor log1p() const { return tend::log1p(self()); }
  Tensor sqrt() const { return tend::sqrt(self()); }
  Tensor rsqrt() const { return tend::rsqrt(self()); }
  Tensor sin() const { return tend::sin(self()); }
  Tensor cos() const { return tend::cos(self()); }
  Tensor tan() const { return tend::tan(self()); }
  Tensor asin() const { return tend::asin(self()); }
  Tensor acos() const { return tend::acos(self()); }
  Tensor atan() const { return tend::atan(self()); }
  Tensor sinh() const { return tend::sinh(self()); }
  Tensor cosh() const { return tend::cosh(self()); }
  Tensor tanh() const { return tend::tanh(self()); }
  Tensor sigmoid() const { return tend::sigmoid(self()); }
  Tensor erf() const { return tend::erf(self()); }
  Tensor erfc() const { return tend::erfc(self()); }
  Tensor floor() const { return tend::floor(self()); }
  Tensor ceil() const { return tend::ceil(self()); }
  Tensor round() const { return tend::round(self()); }
  Tensor trunc() const { return tend::trunc(self()); }
  Tensor atan2(const Tensor& other) const { return tend::atan2(self(), other); }
  Tensor logaddexp(const Tensor& other) const { return tend::logaddexp(self(), other); }
  Tensor xlogy(const Tensor& other) const { return tend::xlogy(self(), other); }
  Tensor xlogy(const Scalar& other) const { return tend::xlogy(self(), other); }
  Tensor relu() const { return tend::relu(self()); }
  Tensor softmax(std::int64_t d) const { return tend::softmax(self(), d); }
  Tensor log_softmax(std::int64_t d) const { return tend::log_softmax(self(), d); }

  // Comparison and logic.

  Tensor eq(const Tensor& other) const { return tend::eq(self(), other); }
  Tensor eq(const Scalar& other) const { return tend::eq(self(), other); }
  Tensor ne(const Tensor& other) const { return tend::ne(self(), other); }
  Tensor ne(const Scalar& other) const { return tend::ne(self(), other); }
  Tensor lt(const Tensor& other) const { return tend::lt(self(), other); }
  Tensor lt(const Scalar& other) const { return tend::lt(self(), other); }
  Tensor le(const Tensor& other) const { return tend::le(self(), other); }
  Tensor le(const Scalar& other) const { return tend::le(self(), other); }
  Tensor gt(const Tensor& other) const { return tend::gt(self(), other); }
  Tensor gt(const Scalar& other) const { return tend::gt(self(), other); }
  Tensor ge(const Tensor& other) const { return tend::ge(self(), other); }
  Tensor ge(const Scalar& other) const { return tend::ge(self(), other); }
  Tensor logical_and(const Tensor& other) const { return tend::logical_and(self(), other); }
  Tensor logical_or(const Tensor& other) const { return tend::logical_or(self(), other); }
  Tensor logical_xor(const Tensor& other) const { return tend::logical_xor(self(), other); }
  Tensor logical_not() const { return tend::logical_not(self()); }
  Tensor bitwise_and(const Tensor& other) const { return tend::bitwise_and(self(), other); }
  Tensor bitwise_and(const Scalar& other) const { return tend::bitwise_and(self(), other); }
  Tensor bitwise_or(const Tensor& other) const { return tend::bitwise_or(self(), other); }
  Tensor bitwise_or(const Scalar& other) const { return tend::bitwise_or(self(), other); }
  Tensor bitwise_xor(const Tensor& other) const { return tend::bitwise_xor(self(), other); }
  Tensor bitwise_xor(const Scalar& other) const { return tend::bitwise_xor(self(), other); }
  Tensor bitwise_not() const { return tend::bitwise_not(self()); }
  Tensor isnan() const { return tend::isnan(self()); }
  Tensor isinf() const { return tend::isinf(self()); }
  Tensor isfinite() const { return tend::isfinite(self()); }
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 Flag equal_nan = false) const {
    return tend::isclose(self(), other, rtol, atol, equal_nan);
  }
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                Flag equal_nan = false) const {
    return tend::allclose(self(), other, rtol, atol, equal_nan);
  }
  bool equal(const Tensor& other) const { return tend::equal(self(), other); }

  // Choosing elements.

  Tensor where(const Tensor& condition, const Tensor& other) const {
    return tend::where(condition, self(), other);
  }
  Tensor where(const Tensor& condition, const Scalar& other) const {
    return tend::where(condition, self(), other);
  }
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const {
    return tend::masked_fill(self(), mask, value);
  }
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const {
    return tend::masked_fill(self(), mask, value);
  }
  Tensor tril(std::int64_t diagonal = 0) const { return tend::tril(self(), diagonal); }
  Tensor triu(std::int64_t diagonal = 0) const { return tend::triu(self(), diagonal); }
  Tensor clamp(const std::optional<Scalar>& lo,
               const std::optional<Scalar>& hi = std::nullopt) const {
    return tend::clamp(self(), lo, hi);
  }
  Tensor clamp(const Tensor& lo, const Tensor& hi) const { return tend::clamp(self(), lo, hi); }
  Tensor clamp_min(const Scalar& lo) const { return tend::clamp_min(self(), lo); }
  Tensor clamp_min(const Tensor& lo) const { return tend::clamp_min(self(), lo); }
  Tensor clamp_max(const Scalar& hi) const { return tend::clamp_max(self(), hi); }
  Tensor clamp_max(const Tensor& hi) const { return tend::clamp_max(self(), hi); }
  Tensor nan_to_num(double nan = 0, std::optional<double> posinf = std::nullopt,
                    std::optional<double> neginf = std::nullopt) const {
    return tend::nan_to_num(self(), nan, posinf, neginf);
  }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }
};

}  // namespace tend::methods
