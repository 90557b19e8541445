// Methods of Tensor: functions that go element by element, and softmax. Each calls the free
// function of its name, which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/index.h>
#include <tend/core/array/dtype.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;
enum class RoundingMode;

/// Which formula gelu uses: that of the normal distribution, or its approximation by tanh.
enum class GeluKind { exact, tanh };
template <>
inline constexpr std::string_view detail::kWords<GeluKind> = "approximate: none tanh";

namespace methods {

/// A base of Tensor.
class Elementwise {
 public:
  // Arithmetic.

  Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor mul(const Tensor& other) const;
  Tensor div(const Tensor& other) const;
  Tensor div(const Tensor& other, std::optional<OrWord<RoundingMode>> rounding_mode) const;
  Tensor add(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor mul(const Scalar& other) const;
  Tensor div(const Scalar& other) const;
  Tensor div(const Scalar& other, std::optional<OrWord<RoundingMode>> rounding_mode) const;
  Tensor subtract(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor subtract(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor multiply(const Tensor& other) const;
  Tensor multiply(const Scalar& other) const;
  Tensor true_divide(const Tensor& other) const;
  Tensor true_divide(const Scalar& other) const;
  Tensor positive() const;
  Tensor neg() const;
  Tensor floor_divide(const Tensor& other) const;
  Tensor floor_divide(const Scalar& other) const;
  Tensor remainder(const Tensor& other) const;
  Tensor remainder(const Scalar& other) const;
  Tensor fmod(const Tensor& other) const;
  Tensor fmod(const Scalar& other) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor pow(const Scalar& exponent) const;
  Tensor square() const;
  Tensor reciprocal() const;
  Tensor maximum(const Tensor& other) const;
  Tensor minimum(const Tensor& other) const;
  Tensor abs() const;
  Tensor sign() const;
  Tensor addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
  Tensor addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1) const;
  Tensor lerp(const Tensor& end, const Tensor& weight) const;
  Tensor lerp(const Tensor& end, const Scalar& weight) const;

  // Functions of one and of two variables.

  Tensor exp() const;
  Tensor exp2() const;
  Tensor expm1() const;
  Tensor log() const;
  Tensor log2() const;
  Tensor log10() const;
  Tensor log1p() const;
  Tensor sqrt() const;
  Tensor rsqrt() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tan() const;
  Tensor asin() const;
  Tensor acos() const;
  Tensor atan() const;
  Tensor sinh() const;
  Tensor cosh() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor erf() const;
  Tensor erfc() const;
  Tensor lgamma() const;
  Tensor digamma() const;
  Tensor polygamma(std::int64_t n) const;
  Tensor erfinv() const;
  Tensor logit(std::optional<double> eps = std::nullopt) const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;
  Tensor round(std::int64_t decimals) const;
  Tensor trunc() const;
  Tensor atan2(const Tensor& other) const;
  Tensor logaddexp(const Tensor& other) const;
  Tensor xlogy(const Tensor& other) const;
  Tensor xlogy(const Scalar& other) const;
  Tensor relu() const;
  Tensor leaky_relu(double negative_slope = 0.01) const;
  Tensor elu(double alpha = 1) const;
  Tensor hardtanh(const Scalar& min_val = -1, const Scalar& max_val = 1) const;
  Tensor relu6() const;
  Tensor selu() const;
  Tensor celu(double alpha = 1) const;
  Tensor prelu(const Tensor& weight) const;
  Tensor hardsigmoid() const;
  Tensor hardswish() const;
  Tensor silu() const;
  Tensor mish() const;
  Tensor softplus(double beta = 1, double threshold = 20) const;
  Tensor softsign() const;
  Tensor logsigmoid() const;
  Tensor glu(std::int64_t dim = -1) const;
  Tensor gelu(OrWord<GeluKind> kind = GeluKind::exact) const;
  Tensor softmax(std::int64_t d, std::optional<DType> dtype = std::nullopt) const;
  Tensor log_softmax(std::int64_t d, std::optional<DType> dtype = std::nullopt) const;

  // Comparison and logic.

  Tensor eq(const Tensor& other) const;
  Tensor eq(const Scalar& other) const;
  Tensor ne(const Tensor& other) const;
  Tensor ne(const Scalar& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor lt(const Scalar& other) const;
  Tensor le(const Tensor& other) const;
  Tensor le(const Scalar& other) const;
  Tensor gt(const Tensor& other) const;
  Tensor gt(const Scalar& other) const;
  Tensor ge(const Tensor& other) const;
  Tensor ge(const Scalar& other) const;
  Tensor logical_and(const Tensor& other) const;
  Tensor logical_or(const Tensor& other) const;
  Tensor logical_xor(const Tensor& other) const;
  Tensor logical_not() const;
  Tensor bitwise_and(const Tensor& other) const;
  Tensor bitwise_and(const Scalar& other) const;
  Tensor bitwise_or(const Tensor& other) const;
  Tensor bitwise_or(const Scalar& other) const;
  Tensor bitwise_xor(const Tensor& other) const;
  Tensor bitwise_xor(const Scalar& other) const;
  Tensor bitwise_not() const;
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isfinite() const;
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 Flag equal_nan = false) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                Flag equal_nan = false) const;
  bool equal(const Tensor& other) const;

  // Choosing elements.

  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor masked_fill(const Tensor& mask, const Tensor& value) const;
  Tensor tril(std::int64_t diagonal = 0) const;
  Tensor triu(std::int64_t diagonal = 0) const;
  Tensor clamp(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi = None) const;
  Tensor clamp(const Tensor& lo, const Tensor& hi) const;
  Tensor clip(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi = None) const;
  Tensor clip(const Tensor& lo, const Tensor& hi) const;
  Tensor clamp_min(const Scalar& lo) const;
  Tensor clamp_min(const Tensor& lo) const;
  Tensor clamp_max(const Scalar& hi) const;
  Tensor clamp_max(const Tensor& hi) const;
  Tensor nan_to_num(std::optional<double> nan = 0, std::optional<double> posinf = std::nullopt,
                    std::optional<double> neginf = std::nullopt) const;

 private:
  const Tensor& self() const;
};

}  // namespace methods
}  // namespace tend
