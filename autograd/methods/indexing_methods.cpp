#include <tend/autograd/tensor/indexing_methods.h>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/tensor.h>

namespace tend::methods {

Tensor Indexing::gather(std::int64_t d, const Tensor& positions) const {
  return tend::gather(self(), d, positions);
}
Tensor Indexing::scatter(std::int64_t d, const Tensor& positions, const Tensor& source) const {
  return tend::scatter(self(), d, positions, source);
}
Tensor Indexing::scatter(std::int64_t d, const Tensor& positions, const Scalar& value) const {
  return tend::scatter(self(), d, positions, value);
}
Tensor Indexing::scatter_add(std::int64_t d, const Tensor& positions, const Tensor& source) const {
  return tend::scatter_add(self(), d, positions, source);
}
Tensor Indexing::scatter_reduce(std::int64_t d, const Tensor& positions, const Tensor& source,
                                OrWord<ScatterReduction> reduce, Flag include_self) const {
  return tend::scatter_reduce(self(), d, positions, source, reduce, include_self);
}
Tensor Indexing::index_select(std::int64_t d, const Tensor& positions) const {
  return tend::index_select(self(), d, positions);
}
Tensor Indexing::index_add(std::int64_t d, const Tensor& positions, const Tensor& source,
                           const Scalar& alpha) const {
  return tend::index_add(self(), d, positions, source, alpha);
}
Tensor Indexing::slice_scatter(const Tensor& source, std::int64_t d, std::optional<Integer> start,
                               std::optional<Integer> stop, std::int64_t step) const {
  return tend::slice_scatter(self(), source, d, start, stop, step);
}
Tensor Indexing::select_scatter(const Tensor& source, std::int64_t d, std::int64_t position) const {
  return tend::select_scatter(self(), source, d, position);
}
Tensor Indexing::quantile(double q, std::optional<Integer> d, Flag keepdim,
                          OrWord<Interpolation> interpolation) const {
  return tend::quantile(self(), q, d, keepdim, interpolation);
}
Tensor Indexing::quantile(const Tensor& q, std::optional<Integer> d, Flag keepdim,
                          OrWord<Interpolation> interpolation) const {
  return tend::quantile(self(), q, d, keepdim, interpolation);
}
UniqueElements Indexing::unique_consecutive(Flag return_inverse, Flag return_counts,
                                            std::optional<Integer> d) const {
  return tend::unique_consecutive(self(), return_inverse, return_counts, d);
}
Tensor Indexing::index_copy(std::int64_t d, const Tensor& positions, const Tensor& source) const {
  return tend::index_copy(self(), d, positions, source);
}
Tensor Indexing::index_fill(std::int64_t d, const Tensor& positions, const Scalar& value) const {
  return tend::index_fill(self(), d, positions, value);
}
Tensor Indexing::index_fill(std::int64_t d, const Tensor& positions, const Tensor& value) const {
  return tend::index_fill(self(), d, positions, value);
}
Tensor Indexing::take_along_dim(const Tensor& positions, std::optional<Integer> d) const {
  return tend::take_along_dim(self(), positions, d);
}
Tensor Indexing::index_put(Indices indices, const Tensor& values, Flag accumulate) const {
  return tend::index_put(self(), indices, values, accumulate);
}
Tensor Indexing::take(const Tensor& positions) const {
  return tend::take(self(), positions);
}
Tensor Indexing::masked_select(const Tensor& mask) const {
  return tend::masked_select(self(), mask);
}
Tensor Indexing::masked_scatter(const Tensor& mask, const Tensor& source) const {
  return tend::masked_scatter(self(), mask, source);
}
Tensor Indexing::nonzero() const {
  return tend::nonzero(self());
}
std::vector<Tensor> Indexing::nonzero_numpy() const {
  return tend::nonzero_numpy(self());
}
ValuesAndIndices Indexing::sort(Integer d, Flag descending, Flag stable) const {
  return tend::sort(self(), d, descending, stable);
}
Tensor Indexing::argsort(Integer d, Flag descending, Flag stable) const {
  return tend::argsort(self(), d, descending, stable);
}
ValuesAndIndices Indexing::topk(std::int64_t k, Integer d, Flag largest, Flag sorted) const {
  return tend::topk(self(), k, d, largest, sorted);
}
UniqueElements Indexing::unique(Flag sorted, Flag return_inverse, Flag return_counts,
                                std::optional<Integer> d) const {
  return tend::unique(self(), sorted, return_inverse, return_counts, d);
}
Tensor Indexing::bincount(std::int64_t minlength) const {
  return tend::bincount(self(), minlength);
}
Tensor Indexing::bincount(const Tensor& weights, std::int64_t minlength) const {
  return tend::bincount(self(), weights, minlength);
}
Tensor Indexing::bernoulli(Generator& generator) const {
  return tend::bernoulli(self(), generator);
}
Tensor Indexing::bernoulli(double p, Generator& generator) const {
  return tend::bernoulli(self(), p, generator);
}
Tensor Indexing::multinomial(std::int64_t samples, Flag replacement, Generator& generator) const {
  return tend::multinomial(self(), samples, replacement, generator);
}

const Tensor& Indexing::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend::methods
