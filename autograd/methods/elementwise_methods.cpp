#include <tend/autograd/tensor/elementwise_methods.h>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/tensor.h>

namespace tend::methods {

Tensor Elementwise::add(const Tensor& other, const Scalar& alpha) const {
  return tend::add(self(), other, alpha);
}
Tensor Elementwise::sub(const Tensor& other, const Scalar& alpha) const {
  return tend::sub(self(), other, alpha);
}
Tensor Elementwise::mul(const Tensor& other) const {
  return tend::mul(self(), other);
}
Tensor Elementwise::div(const Tensor& other) const {
  return tend::div(self(), other);
}
Tensor Elementwise::div(const Tensor& other,
                        std::optional<OrWord<RoundingMode>> rounding_mode) const {
  return tend::div(self(), other, rounding_mode);
}
Tensor Elementwise::add(const Scalar& other, const Scalar& alpha) const {
  return tend::add(self(), other, alpha);
}
Tensor Elementwise::sub(const Scalar& other, const Scalar& alpha) const {
  return tend::sub(self(), other, alpha);
}
Tensor Elementwise::mul(const Scalar& other) const {
  return tend::mul(self(), other);
}
Tensor Elementwise::div(const Scalar& other) const {
  return tend::div(self(), other);
}
Tensor Elementwise::div(const Scalar& other,
                        std::optional<OrWord<RoundingMode>> rounding_mode) const {
  return tend::div(self(), other, rounding_mode);
}
Tensor Elementwise::subtract(const Tensor& other, const Scalar& alpha) const {
  return tend::subtract(self(), other, alpha);
}
Tensor Elementwise::subtract(const Scalar& other, const Scalar& alpha) const {
  return tend::subtract(self(), other, alpha);
}
Tensor Elementwise::multiply(const Tensor& other) const {
  return tend::multiply(self(), other);
}
Tensor Elementwise::multiply(const Scalar& other) const {
  return tend::multiply(self(), other);
}
Tensor Elementwise::true_divide(const Tensor& other) const {
  return tend::true_divide(self(), other);
}
Tensor Elementwise::true_divide(const Scalar& other) const {
  return tend::true_divide(self(), other);
}
Tensor Elementwise::positive() const {
  return tend::positive(self());
}
Tensor Elementwise::neg() const {
  return tend::neg(self());
}
Tensor Elementwise::floor_divide(const Tensor& other) const {
  return tend::floor_divide(self(), other);
}
Tensor Elementwise::floor_divide(const Scalar& other) const {
  return tend::floor_divide(self(), other);
}
Tensor Elementwise::remainder(const Tensor& other) const {
  return tend::remainder(self(), other);
}
Tensor Elementwise::remainder(const Scalar& other) const {
  return tend::remainder(self(), other);
}
Tensor Elementwise::fmod(const Tensor& other) const {
  return tend::fmod(self(), other);
}
Tensor Elementwise::fmod(const Scalar& other) const {
  return tend::fmod(self(), other);
}
Tensor Elementwise::pow(const Tensor& exponent) const {
  return tend::pow(self(), exponent);
}
Tensor Elementwise::pow(const Scalar& exponent) const {
  return tend::pow(self(), exponent);
}
Tensor Elementwise::square() const {
  return tend::square(self());
}
Tensor Elementwise::reciprocal() const {
  return tend::reciprocal(self());
}
Tensor Elementwise::maximum(const Tensor& other) const {
  return tend::maximum(self(), other);
}
Tensor Elementwise::minimum(const Tensor& other) const {
  return tend::minimum(self(), other);
}
Tensor Elementwise::abs() const {
  return tend::abs(self());
}
Tensor Elementwise::sign() const {
  return tend::sign(self());
}
Tensor Elementwise::addcmul(const Tensor& tensor1, const Tensor& tensor2,
                            const Scalar& value) const {
  return tend::addcmul(self(), tensor1, tensor2, value);
}
Tensor Elementwise::addcdiv(const Tensor& tensor1, const Tensor& tensor2,
                            const Scalar& value) const {
  return tend::addcdiv(self(), tensor1, tensor2, value);
}
Tensor Elementwise::lerp(const Tensor& end, const Tensor& weight) const {
  return tend::lerp(self(), end, weight);
}
Tensor Elementwise::lerp(const Tensor& end, const Scalar& weight) const {
  return tend::lerp(self(), end, weight);
}
Tensor Elementwise::exp() const {
  return tend::exp(self());
}
Tensor Elementwise::exp2() const {
  return tend::exp2(self());
}
Tensor Elementwise::expm1() const {
  return tend::expm1(self());
}
Tensor Elementwise::log() const {
  return tend::log(self());
}
Tensor Elementwise::log2() const {
  return tend::log2(self());
}
Tensor Elementwise::log10() const {
  return tend::log10(self());
}
Tensor Elementwise::log1p() const {
  return tend::log1p(self());
}
Tensor Elementwise::sqrt() const {
  return tend::sqrt(self());
}
Tensor Elementwise::rsqrt() const {
  return tend::rsqrt(self());
}
Tensor Elementwise::sin() const {
  return tend::sin(self());
}
Tensor Elementwise::cos() const {
  return tend::cos(self());
}
Tensor Elementwise::tan() const {
  return tend::tan(self());
}
Tensor Elementwise::asin() const {
  return tend::asin(self());
}
Tensor Elementwise::acos() const {
  return tend::acos(self());
}
Tensor Elementwise::atan() const {
  return tend::atan(self());
}
Tensor Elementwise::sinh() const {
  return tend::sinh(self());
}
Tensor Elementwise::cosh() const {
  return tend::cosh(self());
}
Tensor Elementwise::tanh() const {
  return tend::tanh(self());
}
Tensor Elementwise::sigmoid() const {
  return tend::sigmoid(self());
}
Tensor Elementwise::erf() const {
  return tend::erf(self());
}
Tensor Elementwise::erfc() const {
  return tend::erfc(self());
}
Tensor Elementwise::lgamma() const {
  return tend::lgamma(self());
}
Tensor Elementwise::digamma() const {
  return tend::digamma(self());
}
Tensor Elementwise::polygamma(std::int64_t n) const {
  return tend::polygamma(n, self());
}
Tensor Elementwise::erfinv() const {
  return tend::erfinv(self());
}
Tensor Elementwise::logit(std::optional<double> eps) const {
  return tend::logit(self(), eps);
}
Tensor Elementwise::floor() const {
  return tend::floor(self());
}
Tensor Elementwise::ceil() const {
  return tend::ceil(self());
}
Tensor Elementwise::round() const {
  return tend::round(self());
}
Tensor Elementwise::round(std::int64_t decimals) const {
  return tend::round(self(), decimals);
}
Tensor Elementwise::trunc() const {
  return tend::trunc(self());
}
Tensor Elementwise::atan2(const Tensor& other) const {
  return tend::atan2(self(), other);
}
Tensor Elementwise::logaddexp(const Tensor& other) const {
  return tend::logaddexp(self(), other);
}
Tensor Elementwise::xlogy(const Tensor& other) const {
  return tend::xlogy(self(), other);
}
Tensor Elementwise::xlogy(const Scalar& other) const {
  return tend::xlogy(self(), other);
}
Tensor Elementwise::relu() const {
  return tend::relu(self());
}
Tensor Elementwise::leaky_relu(double negative_slope) const {
  return tend::leaky_relu(self(), negative_slope);
}
Tensor Elementwise::elu(double alpha) const {
  return tend::elu(self(), alpha);
}
Tensor Elementwise::hardtanh(const Scalar& min_val, const Scalar& max_val) const {
  return tend::hardtanh(self(), min_val, max_val);
}
Tensor Elementwise::relu6() const {
  return tend::relu6(self());
}
Tensor Elementwise::selu() const {
  return tend::selu(self());
}
Tensor Elementwise::celu(double alpha) const {
  return tend::celu(self(), alpha);
}
Tensor Elementwise::prelu(const Tensor& weight) const {
  return tend::prelu(self(), weight);
}
Tensor Elementwise::hardsigmoid() const {
  return tend::hardsigmoid(self());
}
Tensor Elementwise::hardswish() const {
  return tend::hardswish(self());
}
Tensor Elementwise::silu() const {
  return tend::silu(self());
}
Tensor Elementwise::mish() const {
  return tend::mish(self());
}
Tensor Elementwise::softplus(double beta, double threshold) const {
  return tend::softplus(self(), beta, threshold);
}
Tensor Elementwise::softsign() const {
  return tend::softsign(self());
}
Tensor Elementwise::logsigmoid() const {
  return tend::logsigmoid(self());
}
Tensor Elementwise::glu(std::int64_t dim) const {
  return tend::glu(self(), dim);
}
Tensor Elementwise::gelu(OrWord<GeluKind> kind) const {
  return tend::gelu(self(), kind);
}
Tensor Elementwise::softmax(std::int64_t d, std::optional<DType> dtype) const {
  return tend::softmax(self(), d, dtype);
}
Tensor Elementwise::log_softmax(std::int64_t d, std::optional<DType> dtype) const {
  return tend::log_softmax(self(), d, dtype);
}
Tensor Elementwise::eq(const Tensor& other) const {
  return tend::eq(self(), other);
}
Tensor Elementwise::eq(const Scalar& other) const {
  return tend::eq(self(), other);
}
Tensor Elementwise::ne(const Tensor& other) const {
  return tend::ne(self(), other);
}
Tensor Elementwise::ne(const Scalar& other) const {
  return tend::ne(self(), other);
}
Tensor Elementwise::lt(const Tensor& other) const {
  return tend::lt(self(), other);
}
Tensor Elementwise::lt(const Scalar& other) const {
  return tend::lt(self(), other);
}
Tensor Elementwise::le(const Tensor& other) const {
  return tend::le(self(), other);
}
Tensor Elementwise::le(const Scalar& other) const {
  return tend::le(self(), other);
}
Tensor Elementwise::gt(const Tensor& other) const {
  return tend::gt(self(), other);
}
Tensor Elementwise::gt(const Scalar& other) const {
  return tend::gt(self(), other);
}
Tensor Elementwise::ge(const Tensor& other) const {
  return tend::ge(self(), other);
}
Tensor Elementwise::ge(const Scalar& other) const {
  return tend::ge(self(), other);
}
Tensor Elementwise::logical_and(const Tensor& other) const {
  return tend::logical_and(self(), other);
}
Tensor Elementwise::logical_or(const Tensor& other) const {
  return tend::logical_or(self(), other);
}
Tensor Elementwise::logical_xor(const Tensor& other) const {
  return tend::logical_xor(self(), other);
}
Tensor Elementwise::logical_not() const {
  return tend::logical_not(self());
}
Tensor Elementwise::bitwise_and(const Tensor& other) const {
  return tend::bitwise_and(self(), other);
}
Tensor Elementwise::bitwise_and(const Scalar& other) const {
  return tend::bitwise_and(self(), other);
}
Tensor Elementwise::bitwise_or(const Tensor& other) const {
  return tend::bitwise_or(self(), other);
}
Tensor Elementwise::bitwise_or(const Scalar& other) const {
  return tend::bitwise_or(self(), other);
}
Tensor Elementwise::bitwise_xor(const Tensor& other) const {
  return tend::bitwise_xor(self(), other);
}
Tensor Elementwise::bitwise_xor(const Scalar& other) const {
  return tend::bitwise_xor(self(), other);
}
Tensor Elementwise::bitwise_not() const {
  return tend::bitwise_not(self());
}
Tensor Elementwise::isnan() const {
  return tend::isnan(self());
}
Tensor Elementwise::isinf() const {
  return tend::isinf(self());
}
Tensor Elementwise::isfinite() const {
  return tend::isfinite(self());
}
Tensor Elementwise::isclose(const Tensor& other, double rtol, double atol, Flag equal_nan) const {
  return tend::isclose(self(), other, rtol, atol, equal_nan);
}
bool Elementwise::allclose(const Tensor& other, double rtol, double atol, Flag equal_nan) const {
  return tend::allclose(self(), other, rtol, atol, equal_nan);
}
bool Elementwise::equal(const Tensor& other) const {
  return tend::equal(self(), other);
}
Tensor Elementwise::where(const Tensor& condition, const Tensor& other) const {
  return tend::where(condition, self(), other);
}
Tensor Elementwise::where(const Tensor& condition, const Scalar& other) const {
  return tend::where(condition, self(), other);
}
Tensor Elementwise::masked_fill(const Tensor& mask, const Scalar& value) const {
  return tend::masked_fill(self(), mask, value);
}
Tensor Elementwise::masked_fill(const Tensor& mask, const Tensor& value) const {
  return tend::masked_fill(self(), mask, value);
}
Tensor Elementwise::tril(std::int64_t diagonal) const {
  return tend::tril(self(), diagonal);
}
Tensor Elementwise::triu(std::int64_t diagonal) const {
  return tend::triu(self(), diagonal);
}
Tensor Elementwise::clamp(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) const {
  return tend::clamp(self(), lo, hi);
}
Tensor Elementwise::clamp(const Tensor& lo, const Tensor& hi) const {
  return tend::clamp(self(), lo, hi);
}
Tensor Elementwise::clip(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) const {
  return tend::clip(self(), lo, hi);
}
Tensor Elementwise::clip(const Tensor& lo, const Tensor& hi) const {
  return tend::clip(self(), lo, hi);
}
Tensor Elementwise::clamp_min(const Scalar& lo) const {
  return tend::clamp_min(self(), lo);
}
Tensor Elementwise::clamp_min(const Tensor& lo) const {
  return tend::clamp_min(self(), lo);
}
Tensor Elementwise::clamp_max(const Scalar& hi) const {
  return tend::clamp_max(self(), hi);
}
Tensor Elementwise::clamp_max(const Tensor& hi) const {
  return tend::clamp_max(self(), hi);
}
Tensor Elementwise::nan_to_num(std::optional<double> nan, std::optional<double> posinf,
                               std::optional<double> neginf) const {
  return tend::nan_to_num(self(), nan, posinf, neginf);
}

const Tensor& Elementwise::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend::methods
