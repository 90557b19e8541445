// Methods of Tensor: reductions and products. Each calls the free function of its name,
// which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <tend/autograd/ops/extremes.h>
#include <tend/autograd/ops/linalg.h>
#include <tend/autograd/ops/norm.h>
#include <tend/autograd/ops/reduce.h>
#include <tend/autograd/ops/scan.h>

namespace tend {
namespace methods {

/// A base class of Tensor. Tensor and the structs of tensors are template parameters because they
/// are incomplete here.
template <class Tensor, class ValuesAndIndices, class Extremes>
class Reductions {
 public:
  // Reductions.

  Tensor sum(const Dims& dims = {}, Flag keepdim = false,
             std::optional<DType> dtype = std::nullopt) const {
    return tend::sum(self(), dims, keepdim, dtype);
  }
  Tensor sum(Exactly<DType> dtype) const { return tend::sum(self(), dtype); }
  Tensor sum_to_size(const Shape& shape) const { return tend::sum_to_size(self(), shape); }
  Tensor mean(const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt) const {
    return tend::mean(self(), dims, keepdim, dtype);
  }
  Tensor mean(Exactly<DType> dtype) const { return tend::mean(self(), dtype); }
  Tensor prod(const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt) const {
    return tend::prod(self(), dims, keepdim, dtype);
  }
  Tensor prod(Exactly<DType> dtype) const { return tend::prod(self(), dtype); }
  Tensor var(const Dims& dims = {}, std::optional<double> correction = 1,
             Flag keepdim = false) const {
    return tend::var(self(), dims, correction, keepdim);
  }
  Tensor var(Flag unbiased) const { return tend::var(self(), unbiased); }
  Tensor std(const Dims& dims = {}, std::optional<double> correction = 1,
             Flag keepdim = false) const {
    return tend::std(self(), dims, correction, keepdim);
  }
  Tensor std(Flag unbiased) const { return tend::std(self(), unbiased); }
  std::pair<Tensor, Tensor> var_mean(const Dims& dims = {}, std::optional<double> correction = 1,
                                     Flag keepdim = false) const {
    return tend::var_mean(self(), dims, correction, keepdim);
  }
  std::pair<Tensor, Tensor> std_mean(const Dims& dims = {}, std::optional<double> correction = 1,
                                     Flag keepdim = false) const {
    return tend::std_mean(self(), dims, correction, keepdim);
  }
  Tensor nansum(const Dims& dims = {}, Flag keepdim = false,
                std::optional<DType> dtype = std::nullopt) const {
    return tend::nansum(self(), dims, keepdim, dtype);
  }
  Tensor nanmean(const Dims& dims = {}, Flag keepdim = false,
                 std::optional<DType> dtype = std::nullopt) const {
    return tend::nanmean(self(), dims, keepdim, dtype);
  }
  Tensor count_nonzero(const Dims& dims = {}) const { return tend::count_nonzero(self(), dims); }
  Tensor max(const Tensor& other) const { return tend::max(self(), other); }
  Tensor min(const Tensor& other) const { return tend::min(self(), other); }
  Tensor max() const { return tend::max(self()); }
  Tensor min() const { return tend::min(self()); }
  ValuesAndIndices max(Integer d, Flag keepdim = false) const {
    return tend::max(self(), d, keepdim);
  }
  ValuesAndIndices min(Integer d, Flag keepdim = false) const {
    return tend::min(self(), d, keepdim);
  }
  Tensor amax(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::amax(self(), dims, keepdim);
  }
  Tensor amin(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::amin(self(), dims, keepdim);
  }
  Tensor argmax(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const {
    return tend::argmax(self(), d, keepdim);
  }
  Tensor argmin(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const {
    return tend::argmin(self(), d, keepdim);
  }
  Tensor any(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::any(self(), dims, keepdim);
  }
  Tensor all(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::all(self(), dims, keepdim);
  }
  Tensor median() const { return tend::median(self()); }
  ValuesAndIndices median(Integer d, Flag keepdim = false) const {
    return tend::median(self(), d, keepdim);
  }
  Extremes aminmax(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const {
    return tend::aminmax(self(), d, keepdim);
  }
  Tensor logsumexp(const Dims& dims, Flag keepdim = false) const {
    return tend::logsumexp(self(), dims, keepdim);
  }
  Tensor norm(std::optional<double> p = 2, const Dims& dims = {}, Flag keepdim = false,
              std::optional<DType> dtype = std::nullopt) const {
    return tend::norm(self(), p, dims, keepdim, dtype);
  }
  Tensor cumsum(std::int64_t d, std::optional<DType> dtype = std::nullopt) const {
    return tend::cumsum(self(), d, dtype);
  }
  Tensor cumprod(std::int64_t d, std::optional<DType> dtype = std::nullopt) const {
    return tend::cumprod(self(), d, dtype);
  }
  Tensor logcumsumexp(std::int64_t d) const { return tend::logcumsumexp(self(), d); }
  ValuesAndIndices cummax(std::int64_t d) const { return tend::cummax(self(), d); }
  ValuesAndIndices cummin(std::int64_t d) const { return tend::cummin(self(), d); }

  // Products.

  Tensor matmul(const Tensor& other) const { return tend::matmul(self(), other); }
  Tensor dot(const Tensor& other) const { return tend::dot(self(), other); }
  Tensor mm(const Tensor& other) const { return tend::mm(self(), other); }
  Tensor mv(const Tensor& other) const { return tend::mv(self(), other); }
  Tensor bmm(const Tensor& other) const { return tend::bmm(self(), other); }
  Tensor addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
               const Scalar& alpha = 1) const {
    return tend::addmm(self(), mat1, mat2, beta, alpha);
  }
  Tensor addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
               const Scalar& alpha = 1) const {
    return tend::addmv(self(), mat, vec, beta, alpha);
  }
  Tensor baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                 const Scalar& alpha = 1) const {
    return tend::baddbmm(self(), batch1, batch2, beta, alpha);
  }
  Tensor addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                const Scalar& alpha = 1) const {
    return tend::addbmm(self(), batch1, batch2, beta, alpha);
  }
  Tensor outer(const Tensor& other) const { return tend::outer(self(), other); }
  Tensor kron(const Tensor& other) const { return tend::kron(self(), other); }
  Tensor trace() const { return tend::trace(self()); }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }
};

}  // namespace methods
}  // namespace tend
