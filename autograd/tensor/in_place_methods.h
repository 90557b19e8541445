// Methods of Tensor that write in place (autograd/graph/inplace.h). The free functions of the same
// names without the underscore document what they compute. Comparisons write 1 for true and 0 for
// false, in the tensor's dtype.
#pragma once

#include <optional>

#include <tend/autograd/tensor/index.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>
#include <tend/core/base/words.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;
enum class RoundingMode;
enum class ScatterReduction;

namespace methods {

/// A base class of Tensor.
class InPlace {
 public:
#define TEND_TABLE <tend/autograd/ops/tables.h>
#define TEND_ROWS_IN_PLACE
#include <tend/autograd/ops/row_forms.h>

  const Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& div_(const Tensor& other, std::optional<OrWord<RoundingMode>> rounding_mode) const;
  const Tensor& add_(const Scalar& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const Scalar& other, const Scalar& alpha = 1) const;
  const Tensor& div_(const Scalar& other, std::optional<OrWord<RoundingMode>> rounding_mode) const;
  const Tensor& subtract_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& subtract_(const Scalar& other, const Scalar& alpha = 1) const;
  const Tensor& multiply_(const Tensor& other) const;
  const Tensor& multiply_(const Scalar& other) const;
  const Tensor& true_divide_(const Tensor& other) const;
  const Tensor& true_divide_(const Scalar& other) const;
  const Tensor& pow_(const Tensor& exponent) const;
  const Tensor& pow_(const Scalar& exponent) const;
  const Tensor& square_() const;
  const Tensor& addcmul_(const Tensor& tensor1, const Tensor& tensor2,
                         const Scalar& value = 1) const;
  const Tensor& addcdiv_(const Tensor& tensor1, const Tensor& tensor2,
                         const Scalar& value = 1) const;
  const Tensor& lerp_(const Tensor& end, const Tensor& weight) const;
  const Tensor& lerp_(const Tensor& end, const Scalar& weight) const;
  const Tensor& bitwise_not_() const;

  const Tensor& logical_not_() const;

  const Tensor& copy_(const Tensor& source) const;
  const Tensor& fill_(const Scalar& value) const;
  /// Fills the tensor with the value of a 0-d tensor. The gradient of the value is the sum over all
  /// elements.
  ///
  /// Throws: ShapeError - the value is not 0-d
  const Tensor& fill_(const Tensor& value) const;
  const Tensor& zero_() const {
    return fill_(0);
  }
  const Tensor& operator+=(const Tensor& other) const {
    return add_(other);
  }
  const Tensor& operator-=(const Tensor& other) const {
    return sub_(other);
  }
  const Tensor& operator*=(const Tensor& other) const {
    return mul_(other);
  }
  const Tensor& operator/=(const Tensor& other) const {
    return div_(other);
  }
  const Tensor& operator%=(const Tensor& other) const {
    return remainder_(other);
  }
  const Tensor& operator%=(const Scalar& other) const {
    return remainder_(other);
  }
  const Tensor& operator&=(const Tensor& other) const {
    return bitwise_and_(other);
  }
  const Tensor& operator|=(const Tensor& other) const {
    return bitwise_or_(other);
  }
  const Tensor& operator^=(const Tensor& other) const {
    return bitwise_xor_(other);
  }
  const Tensor& operator&=(const Scalar& other) const {
    return bitwise_and_(other);
  }
  const Tensor& operator|=(const Scalar& other) const {
    return bitwise_or_(other);
  }
  const Tensor& operator^=(const Scalar& other) const {
    return bitwise_xor_(other);
  }
  const Tensor& operator+=(const Scalar& other) const {
    return add_(other);
  }
  const Tensor& operator-=(const Scalar& other) const {
    return sub_(other);
  }
  const Tensor& operator*=(const Scalar& other) const {
    return mul_(other);
  }
  const Tensor& operator/=(const Scalar& other) const {
    return div_(other);
  }
  const Tensor& polygamma_(std::int64_t n) const;
  const Tensor& logit_(std::optional<double> eps = std::nullopt) const;
  const Tensor& round_(std::int64_t decimals) const;
  const Tensor& leaky_relu_(double negative_slope = 0.01) const;
  const Tensor& elu_(double alpha = 1) const;
  const Tensor& hardtanh_(const Scalar& min_val = -1, const Scalar& max_val = 1) const;
  const Tensor& relu6_() const;
  const Tensor& celu_(double alpha = 1) const;
  const Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  const Tensor& masked_fill_(const Tensor& mask, const Tensor& value) const;
  const Tensor& tril_(std::int64_t diagonal = 0) const;
  const Tensor& triu_(std::int64_t diagonal = 0) const;
  const Tensor& clamp_(const std::optional<Scalar>& lo,
                       const std::optional<Scalar>& hi = None) const;
  const Tensor& clamp_(const Tensor& lo, const Tensor& hi) const;
  const Tensor& clip_(const std::optional<Scalar>& lo,
                      const std::optional<Scalar>& hi = None) const;
  const Tensor& clip_(const Tensor& lo, const Tensor& hi) const;
  const Tensor& clamp_min_(const Scalar& lo) const;
  const Tensor& clamp_min_(const Tensor& lo) const;
  const Tensor& clamp_max_(const Scalar& hi) const;
  const Tensor& clamp_max_(const Tensor& hi) const;
  const Tensor& nan_to_num_(std::optional<double> nan = 0,
                            std::optional<double> posinf = std::nullopt,
                            std::optional<double> neginf = std::nullopt) const;
  const Tensor& addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                       const Scalar& alpha = 1) const;
  const Tensor& addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
                       const Scalar& alpha = 1) const;
  const Tensor& baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                         const Scalar& alpha = 1) const;
  const Tensor& addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                        const Scalar& alpha = 1) const;

  // Elements chosen by index tensors. All methods except the scatter methods write only to the
  // chosen elements.

  const Tensor& index_put_(Indices indices, const Tensor& values, Flag accumulate = false) const;
  const Tensor& index_put_(Indices indices, const Scalar& value, Flag accumulate = false) const;
  const Tensor& index_add_(std::int64_t d, const Tensor& positions, const Tensor& source,
                           const Scalar& alpha = 1) const;
  const Tensor& index_copy_(std::int64_t d, const Tensor& positions, const Tensor& source) const;
  const Tensor& index_fill_(std::int64_t d, const Tensor& positions, const Scalar& value) const;
  const Tensor& index_fill_(std::int64_t d, const Tensor& positions, const Tensor& value) const;
  const Tensor& masked_scatter_(const Tensor& mask, const Tensor& source) const;
  const Tensor& scatter_(std::int64_t d, const Tensor& positions, const Tensor& source) const;
  const Tensor& scatter_(std::int64_t d, const Tensor& positions, const Scalar& value) const;
  const Tensor& scatter_add_(std::int64_t d, const Tensor& positions, const Tensor& source) const;
  const Tensor& scatter_reduce_(std::int64_t d, const Tensor& positions, const Tensor& source,
                                OrWord<ScatterReduction> reduce, Flag include_self = true) const;

  const Tensor& cumsum_(std::int64_t d, std::optional<DType> dtype = std::nullopt) const;
  const Tensor& cumprod_(std::int64_t d, std::optional<DType> dtype = std::nullopt) const;

  // Random numbers, generated in the order of the elements in memory (autograd/ops/random.h).

  /// Fills the tensor with random numbers that are uniform on [low, high).
  const Tensor& uniform_(double low = 0, double high = 1,
                         Generator& generator = default_generator()) const;
  const Tensor& normal_(double mean = 0, double std = 1,
                        Generator& generator = default_generator()) const;
  /// Sets each element to 1 with probability p, and to 0 otherwise. p may be a tensor that
  /// broadcasts.
  const Tensor& bernoulli_(double p = 0.5, Generator& generator = default_generator()) const;
  const Tensor& bernoulli_(const Tensor& p, Generator& generator = default_generator()) const;
  /// Fills the tensor with random numbers from the exponential distribution of rate lambda > 0.
  const Tensor& exponential_(double lambda = 1, Generator& generator = default_generator()) const;

  // Changes of shape. The tensor itself becomes the view, and all of its handles show the new
  // shape.

  const Tensor& transpose_(std::int64_t dim0, std::int64_t dim1) const;
  const Tensor& swapaxes_(std::int64_t dim0, std::int64_t dim1) const;
  const Tensor& t_() const;
  const Tensor& squeeze_() const;
  const Tensor& squeeze_(std::int64_t dim) const;
  const Tensor& squeeze_(const Shape& dims) const;
  const Tensor& unsqueeze_(std::int64_t dim) const;

 private:
  const Tensor& self() const;
};

}  // namespace methods
}  // namespace tend
