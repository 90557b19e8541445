// Methods of Tensor that write in place (autograd/inplace.h). What one computes is documented at
// the function of the same name without the underscore.
#pragma once

#include <optional>

#include <tend/core/random.h>
#include <tend/core/scalar.h>

namespace tend {

class Tensor;

namespace methods {

/// A base of Tensor.
class InPlace {
 public:
  const Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& mul_(const Tensor& other) const;
  const Tensor& div_(const Tensor& other) const;
  const Tensor& add_(const Scalar& other) const;
  const Tensor& sub_(const Scalar& other) const;
  const Tensor& mul_(const Scalar& other) const;
  const Tensor& div_(const Scalar& other) const;
  const Tensor& floor_divide_(const Tensor& other) const;
  const Tensor& floor_divide_(const Scalar& other) const;
  const Tensor& remainder_(const Tensor& other) const;
  const Tensor& remainder_(const Scalar& other) const;
  const Tensor& pow_(const Tensor& exponent) const;
  const Tensor& pow_(const Scalar& exponent) const;
  const Tensor& square_() const;
  const Tensor& reciprocal_() const;
  const Tensor& neg_() const;
  const Tensor& abs_() const;
  const Tensor& sign_() const;
  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(const Scalar& value) const;
  const Tensor& zero_() const { return fill_(0); }
  const Tensor& operator+=(const Tensor& other) const { return add_(other); }
  const Tensor& operator-=(const Tensor& other) const { return sub_(other); }
  const Tensor& operator*=(const Tensor& other) const { return mul_(other); }
  const Tensor& operator/=(const Tensor& other) const { return div_(other); }
  const Tensor& operator+=(const Scalar& other) const { return add_(other); }
  const Tensor& operator-=(const Scalar& other) const { return sub_(other); }
  const Tensor& operator*=(const Scalar& other) const { return mul_(other); }
  const Tensor& operator/=(const Scalar& other) const { return div_(other); }
  const Tensor& exp_() const;
  const Tensor& expm1_() const;
  const Tensor& log_() const;
  const Tensor& log1p_() const;
  const Tensor& sqrt_() const;
  const Tensor& rsqrt_() const;
  const Tensor& sin_() const;
  const Tensor& cos_() const;
  const Tensor& tan_() const;
  const Tensor& tanh_() const;
  const Tensor& sigmoid_() const;
  const Tensor& erf_() const;
  const Tensor& floor_() const;
  const Tensor& ceil_() const;
  const Tensor& round_() const;
  const Tensor& trunc_() const;
  const Tensor& relu_() const;
  const Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  const Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  const Tensor& tril_(std::int64_t diagonal = 0) const;
  const Tensor& triu_(std::int64_t diagonal = 0) const;
  const Tensor& clamp_(const std::optional<Scalar>& lo,
                       const std::optional<Scalar>& hi = std::nullopt) const;

  // Random numbers, drawn in the order in which the elements lie in memory (autograd/ops/random.h).

  /// Uniform on [low, high).
  const Tensor& uniform_(double low = 0, double high = 1,
                         Generator& generator = default_generator()) const;
  const Tensor& normal_(double mean = 0, double std = 1,
                        Generator& generator = default_generator()) const;
  /// 1 with probability p, else 0; p may be a tensor that broadcasts.
  const Tensor& bernoulli_(double p = 0.5, Generator& generator = default_generator()) const;
  const Tensor& bernoulli_(const Tensor& p, Generator& generator = default_generator()) const;
  /// Exponential of rate lambda > 0.
  const Tensor& exponential_(double lambda = 1, Generator& generator = default_generator()) const;

 private:
  const Tensor& self() const;
};

}  // namespace methods
}  // namespace tend
