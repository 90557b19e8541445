// Methods of Tensor: elementwise functions, and softmax. Each calls the free function of its name,
// which has the documentation.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/ops/activation.h>
#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/combine.h>
#include <tend/autograd/ops/compare.h>
#include <tend/autograd/ops/masking.h>
#include <tend/autograd/ops/math.h>
#include <tend/autograd/ops/pow.h>

namespace tend {
namespace methods {

/// A base class of Tensor. Tensor is a template parameter because it is incomplete here.
template <class Tensor>
class Elementwise {
 public:
#define TEND_TABLE <tend/autograd/ops/tables.h>
#define TEND_ROWS_METHODS
#include <tend/autograd/ops/row_forms.h>

  // Arithmetic.

  Tensor add(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::add(self(), other, alpha);
  }
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::sub(self(), other, alpha);
  }
  Tensor div(const Tensor& other, std::optional<OrWord<RoundingMode>> rounding_mode) const {
    return tend::div(self(), other, rounding_mode);
  }
  Tensor add(const Scalar& other, const Scalar& alpha = 1) const {
    return tend::add(self(), other, alpha);
  }
  Tensor sub(const Scalar& other, const Scalar& alpha = 1) const {
    return tend::sub(self(), other, alpha);
  }
  Tensor div(const Scalar& other, std::optional<OrWord<RoundingMode>> rounding_mode) const {
    return tend::div(self(), other, rounding_mode);
  }
  Tensor subtract(const Tensor& other, const Scalar& alpha = 1) const {
    return tend::subtract(self(), other, alpha);
  }
  Tensor subtract(const Scalar& other, const Scalar& alpha = 1) const {
    return tend::subtract(self(), other, alpha);
  }
  Tensor multiply(const Tensor& other) const {
    return tend::multiply(self(), other);
  }
  Tensor multiply(const Scalar& other) const {
    return tend::multiply(self(), other);
  }
  Tensor true_divide(const Tensor& other) const {
    return tend::true_divide(self(), other);
  }
  Tensor true_divide(const Scalar& other) const {
    return tend::true_divide(self(), other);
  }
  Tensor positive() const {
    return tend::positive(self());
  }
  Tensor pow(const Tensor& exponent) const {
    return tend::pow(self(), exponent);
  }
  Tensor pow(const Scalar& exponent) const {
    return tend::pow(self(), exponent);
  }
  Tensor square() const {
    return tend::square(self());
  }
  Tensor maximum(const Tensor& other) const {
    return tend::maximum(self(), other);
  }
  Tensor minimum(const Tensor& other) const {
    return tend::minimum(self(), other);
  }
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

  // Functions of one or two variables.

  Tensor polygamma(std::int64_t n) const {
    return tend::polygamma(n, self());
  }
  Tensor logit(std::optional<double> eps = std::nullopt) const {
    return tend::logit(self(), eps);
  }
  Tensor round(std::int64_t decimals) const {
    return tend::round(self(), decimals);
  }
  Tensor logaddexp(const Tensor& other) const {
    return tend::logaddexp(self(), other);
  }
  Tensor leaky_relu(double negative_slope = 0.01) const {
    return tend::leaky_relu(self(), negative_slope);
  }
  Tensor elu(double alpha = 1) const {
    return tend::elu(self(), alpha);
  }
  Tensor hardtanh(const Scalar& min_val = -1, const Scalar& max_val = 1) const {
    return tend::hardtanh(self(), min_val, max_val);
  }
  Tensor relu6() const {
    return tend::relu6(self());
  }
  Tensor celu(double alpha = 1) const {
    return tend::celu(self(), alpha);
  }
  Tensor prelu(const Tensor& weight) const {
    return tend::prelu(self(), weight);
  }
  Tensor softplus(double beta = 1, double threshold = 20) const {
    return tend::softplus(self(), beta, threshold);
  }
  Tensor softsign() const {
    return tend::softsign(self());
  }
  Tensor logsigmoid() const {
    return tend::logsigmoid(self());
  }
  Tensor glu(std::int64_t dim = -1) const {
    return tend::glu(self(), dim);
  }
  Tensor gelu(OrWord<GeluKind> kind = GeluKind::exact) const {
    return tend::gelu(self(), kind);
  }
  Tensor softmax(std::int64_t d, std::optional<DType> dtype = std::nullopt) const {
    return tend::softmax(self(), d, dtype);
  }
  Tensor log_softmax(std::int64_t d, std::optional<DType> dtype = std::nullopt) const {
    return tend::log_softmax(self(), d, dtype);
  }

  // Comparison and logic.

  Tensor logical_not() const {
    return tend::logical_not(self());
  }
  Tensor bitwise_not() const {
    return tend::bitwise_not(self());
  }
  Tensor isclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                 Flag equal_nan = false) const {
    return tend::isclose(self(), other, rtol, atol, equal_nan);
  }
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                Flag equal_nan = false) const {
    return tend::allclose(self(), other, rtol, atol, equal_nan);
  }
  bool equal(const Tensor& other) const {
    return tend::equal(self(), other);
  }

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
  Tensor tril(std::int64_t diagonal = 0) const {
    return tend::tril(self(), diagonal);
  }
  Tensor triu(std::int64_t diagonal = 0) const {
    return tend::triu(self(), diagonal);
  }
  Tensor clamp(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi = None) const {
    return tend::clamp(self(), lo, hi);
  }
  Tensor clamp(const Tensor& lo, const Tensor& hi) const {
    return tend::clamp(self(), lo, hi);
  }
  Tensor clip(const std::optional<Scalar>& lo, const std::optional<Scalar>& hi = None) const {
    return tend::clip(self(), lo, hi);
  }
  Tensor clip(const Tensor& lo, const Tensor& hi) const {
    return tend::clip(self(), lo, hi);
  }
  Tensor clamp_min(const Scalar& lo) const {
    return tend::clamp_min(self(), lo);
  }
  Tensor clamp_min(const Tensor& lo) const {
    return tend::clamp_min(self(), lo);
  }
  Tensor clamp_max(const Scalar& hi) const {
    return tend::clamp_max(self(), hi);
  }
  Tensor clamp_max(const Tensor& hi) const {
    return tend::clamp_max(self(), hi);
  }
  Tensor nan_to_num(std::optional<double> nan = 0, std::optional<double> posinf = std::nullopt,
                    std::optional<double> neginf = std::nullopt) const {
    return tend::nan_to_num(self(), nan, posinf, neginf);
  }

 private:
  const Tensor& self() const {
    return static_cast<const Tensor&>(*this);
  }
};

}  // namespace methods
}  // namespace tend
