#include <tend/autograd/tensor/reductions_methods.h>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/tensor.h>

namespace tend::methods {

Tensor Reductions::sum(const Dims& dims, Flag keepdim, std::optional<DType> dtype) const {
  return tend::sum(self(), dims, keepdim, dtype);
}
Tensor Reductions::sum(Exactly<DType> dtype) const {
  return tend::sum(self(), dtype);
}
Tensor Reductions::sum_to_size(const Shape& shape) const {
  return tend::sum_to_size(self(), shape);
}
Tensor Reductions::mean(const Dims& dims, Flag keepdim, std::optional<DType> dtype) const {
  return tend::mean(self(), dims, keepdim, dtype);
}
Tensor Reductions::mean(Exactly<DType> dtype) const {
  return tend::mean(self(), dtype);
}
Tensor Reductions::prod(const Dims& dims, Flag keepdim, std::optional<DType> dtype) const {
  return tend::prod(self(), dims, keepdim, dtype);
}
Tensor Reductions::prod(Exactly<DType> dtype) const {
  return tend::prod(self(), dtype);
}
Tensor Reductions::var(const Dims& dims, std::optional<double> correction, Flag keepdim) const {
  return tend::var(self(), dims, correction, keepdim);
}
Tensor Reductions::std(const Dims& dims, std::optional<double> correction, Flag keepdim) const {
  return tend::std(self(), dims, correction, keepdim);
}
std::pair<Tensor, Tensor> Reductions::var_mean(const Dims& dims, std::optional<double> correction,
                                               Flag keepdim) const {
  return tend::var_mean(self(), dims, correction, keepdim);
}
std::pair<Tensor, Tensor> Reductions::std_mean(const Dims& dims, std::optional<double> correction,
                                               Flag keepdim) const {
  return tend::std_mean(self(), dims, correction, keepdim);
}
Tensor Reductions::var(Flag unbiased) const {
  return tend::var(self(), unbiased);
}
Tensor Reductions::std(Flag unbiased) const {
  return tend::std(self(), unbiased);
}
Tensor Reductions::nansum(const Dims& dims, Flag keepdim, std::optional<DType> dtype) const {
  return tend::nansum(self(), dims, keepdim, dtype);
}
Tensor Reductions::nanmean(const Dims& dims, Flag keepdim, std::optional<DType> dtype) const {
  return tend::nanmean(self(), dims, keepdim, dtype);
}
Tensor Reductions::count_nonzero(const Dims& dims) const {
  return tend::count_nonzero(self(), dims);
}
Tensor Reductions::max(const Tensor& other) const {
  return tend::max(self(), other);
}
Tensor Reductions::min(const Tensor& other) const {
  return tend::min(self(), other);
}
Tensor Reductions::logcumsumexp(std::int64_t d) const {
  return tend::logcumsumexp(self(), d);
}
ValuesAndIndices Reductions::cummax(std::int64_t d) const {
  return tend::cummax(self(), d);
}
ValuesAndIndices Reductions::cummin(std::int64_t d) const {
  return tend::cummin(self(), d);
}
Tensor Reductions::max() const {
  return tend::max(self());
}
Tensor Reductions::min() const {
  return tend::min(self());
}
ValuesAndIndices Reductions::max(Integer d, Flag keepdim) const {
  return tend::max(self(), d, keepdim);
}
ValuesAndIndices Reductions::min(Integer d, Flag keepdim) const {
  return tend::min(self(), d, keepdim);
}
Tensor Reductions::amax(const Dims& dims, Flag keepdim) const {
  return tend::amax(self(), dims, keepdim);
}
Tensor Reductions::amin(const Dims& dims, Flag keepdim) const {
  return tend::amin(self(), dims, keepdim);
}
Tensor Reductions::argmax(std::optional<Integer> d, Flag keepdim) const {
  return tend::argmax(self(), d, keepdim);
}
Tensor Reductions::argmin(std::optional<Integer> d, Flag keepdim) const {
  return tend::argmin(self(), d, keepdim);
}
Tensor Reductions::any(const Dims& dims, Flag keepdim) const {
  return tend::any(self(), dims, keepdim);
}
Tensor Reductions::all(const Dims& dims, Flag keepdim) const {
  return tend::all(self(), dims, keepdim);
}
Tensor Reductions::median() const {
  return tend::median(self());
}
ValuesAndIndices Reductions::median(Integer d, Flag keepdim) const {
  return tend::median(self(), d, keepdim);
}
Extremes Reductions::aminmax(std::optional<Integer> d, Flag keepdim) const {
  return tend::aminmax(self(), d, keepdim);
}
Tensor Reductions::logsumexp(const Dims& dims, Flag keepdim) const {
  return tend::logsumexp(self(), dims, keepdim);
}
Tensor Reductions::norm(std::optional<double> p, const Dims& dims, Flag keepdim,
                        std::optional<DType> dtype) const {
  return tend::norm(self(), p, dims, keepdim, dtype);
}
Tensor Reductions::cumsum(std::int64_t d, std::optional<DType> dtype) const {
  return tend::cumsum(self(), d, dtype);
}
Tensor Reductions::cumprod(std::int64_t d, std::optional<DType> dtype) const {
  return tend::cumprod(self(), d, dtype);
}
Tensor Reductions::matmul(const Tensor& other) const {
  return tend::matmul(self(), other);
}
Tensor Reductions::dot(const Tensor& other) const {
  return tend::dot(self(), other);
}
Tensor Reductions::mm(const Tensor& other) const {
  return tend::mm(self(), other);
}
Tensor Reductions::mv(const Tensor& other) const {
  return tend::mv(self(), other);
}
Tensor Reductions::bmm(const Tensor& other) const {
  return tend::bmm(self(), other);
}
Tensor Reductions::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                         const Scalar& alpha) const {
  return tend::addmm(self(), mat1, mat2, beta, alpha);
}
Tensor Reductions::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta,
                         const Scalar& alpha) const {
  return tend::addmv(self(), mat, vec, beta, alpha);
}
Tensor Reductions::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                           const Scalar& alpha) const {
  return tend::baddbmm(self(), batch1, batch2, beta, alpha);
}
Tensor Reductions::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                          const Scalar& alpha) const {
  return tend::addbmm(self(), batch1, batch2, beta, alpha);
}
Tensor Reductions::outer(const Tensor& other) const {
  return tend::outer(self(), other);
}
Tensor Reductions::kron(const Tensor& other) const {
  return tend::kron(self(), other);
}
Tensor Reductions::trace() const {
  return tend::trace(self());
}

const Tensor& Reductions::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend::methods
