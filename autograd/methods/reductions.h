// Methods of Tensor: reductions and products. Each calls the free function of its name, which
// has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/ops.h>

namespace tend::methods {

/// A base of Tensor, which stands in its place as the template's argument.
template <class Tensor>
class Reductions {
 public:
  // Reductions.

  Tensor sum(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::sum(self(), dims, keepdim);
  }
  Tensor mean(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::mean(self(), dims, keepdim);
  }
  Tensor prod(const Dims& dims = {}, Flag keepdim = false) const {
    return tend::prod(self(), dims, keepdim);
  }
  Tensor var(const Dims& dims = {}, double correction = 1, Flag keepdim = false) const {
    return tend::var(self(), dims, correction, keepdim);
  }
  Tensor std(const Dims& dims = {}, double correction = 1, Flag keepdim = false) const {
    return tend::std(self(), dims, correction, keepdim);
  }
  Tensor max() const { return tend::max(self()); }
  Tensor min() const { return tend::min(self()); }
  auto max(std::int64_t d, Flag keepdim = false) const { return tend::max(self(), d, keepdim); }
  auto min(std::int64_t d, Flag keepdim = false) const { return tend::min(self(), d, keepdim); }
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
  auto median(std::int64_t d, Flag keepdim = false) const {
    return tend::median(self(), d, keepdim);
  }
  auto aminmax(std::optional<Integer> d = std::nullopt, Flag keepdim = false) const {
    return tend::aminmax(self(), d, keepdim);
  }
  Tensor logsumexp(const Dims& dims, Flag keepdim = false) const {
    return tend::logsumexp(self(), dims, keepdim);
  }
  Tensor norm(double p = 2, const Dims& dims = {}, Flag keepdim = false) const {
    return tend::norm(self(), p, dims, keepdim);
  }
  Tensor cumsum(std::int64_t d) const { return tend::cumsum(self(), d); }
  Tensor cumprod(std::int64_t d) const { return tend::cumprod(self(), d); }

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

}  // namespace tend::methods
