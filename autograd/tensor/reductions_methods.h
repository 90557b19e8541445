// Methods of Tensor: reductions and products. Each calls the free function of its name,
// which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/dims.h>
#include <tend/autograd/tensor/index.h>
#include <tend/core/array/dtype.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>
#include <tend/core/base/strict.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct Extremes;

namespace methods {

/// A base of Tensor.
class Reductions {
 public:
  // Reductions.

  Tensor sum(const Dims& dims = {}, Flag keepdim = false,
             std::optional<DType> dtype = std::nullopt) const;
  Tensor sum(Exactly<DType> dtype) const;
  Tensor sum_to_size(const Shape& shape) const;
  Tensor mean(const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt) const;
  Tensor mean(Exactly<DType> dtype) const;
  Tensor prod(const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt) const;
  Tensor prod(Exactly<DType> dtype) const;
  Tensor var(const Dims& dims = {}, std::optional<double> correction = 1,
             Flag keepdim = false) const;
  Tensor var(Flag unbiased) const;
  Tensor std(const Dims& dims = {}, std::optional<double> correction = 1,
             Flag keepdim = false) const;
  Tensor std(Flag unbiased) const;
  std::pair<Tensor, Tensor> var_mean(const Dims& dims = {}, std::optional<double> correction = 1,
                                     Flag keepdim = false) const;
  std::pair<Tensor, Tensor> std_mean(const Dims& dims = {}, std::optional<double> correction = 1,
                                     Flag keepdim = false) const;
  Tensor nansum(const Dims& dims = {}, Flag keepdim = false,
                std::optional<DType> dtype = std::nullopt) const;
  Tensor nanmean(const Dims& dims = {}, Flag keepdim = false,
                 std::optional<DType> dtype = std::nullopt) const;
  Tensor count_nonzero(const Dims& dims = {}) const;
  Tensor max(const Tensor& other) const;
  Tensor min(const Tensor& other) const;
  Tensor max() const;
  Tensor min() const;
  ValuesAndIndices max(Integer d, Flag keepdim = false) const;
  ValuesAndIndices min(Integer d, Flag keepdim = false) const;
  Tensor amax(const Dims& dims = {}, Flag keepdim = false) const;
  Tensor amin(const Dims& dims = {}, Flag keepdim = false) const;
  Tensor argmax(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const;
  Tensor argmin(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const;
  Tensor any(const Dims& dims = {}, Flag keepdim = false) const;
  Tensor all(const Dims& dims = {}, Flag keepdim = false) const;
  Tensor median() const;
  ValuesAndIndices median(Integer d, Flag keepdim = false) const;
  Extremes aminmax(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const;
  Tensor logsumexp(const Dims& dims, Flag keepdim = false) const;
  Tensor norm(std::optional<double> p = 2, const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt) const;
  Tensor cumsum(std::int64_t d, std::optional<DType> dtype = std::nullopt) const;
  Tensor cumprod(std::int64_t d, std::optional<DType> dtype = std::nullopt) const;
  Tensor logcumsumexp(std::int64_t d) const;
  ValuesAndIndices cummax(std::int64_t d) const;
  ValuesAndIndices cummin(std::int64_t d) const;

  // Products.

  Tensor matmul(const Tensor& other) const;
  Tensor dot(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor mv(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
               const Scalar& alpha = 1) const;
  Tensor addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
               const Scalar& alpha = 1) const;
  Tensor baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const;
  Tensor addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                const Scalar& alpha = 1) const;
  Tensor outer(const Tensor& other) const;
  Tensor kron(const Tensor& other) const;
  Tensor trace() const;

 private:
  const Tensor& self() const;
};

}  // namespace methods
}  // namespace tend
