// Methods of Tensor: elements chosen by index tensors, orderings and random numbers. Each calls the
// free function of its name, which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/ops/advanced_indexing.h>
#include <tend/autograd/ops/indexing.h>
#include <tend/autograd/ops/ordering.h>
#include <tend/autograd/ops/quantile.h>
#include <tend/autograd/ops/random.h>

namespace tend {
namespace methods {

/// A base class of Tensor. Tensor and the structs of tensors are template parameters because they
/// are incomplete here.
template <class Tensor, class ValuesAndIndices, class UniqueElements>
class Indexing {
 public:
  // Elements at positions along one dimension.

  Tensor gather(std::int64_t d, const Tensor& positions) const {
    return tend::gather(self(), d, positions);
  }
  Tensor scatter(std::int64_t d, const Tensor& positions, const Tensor& source) const {
    return tend::scatter(self(), d, positions, source);
  }
  Tensor scatter(std::int64_t d, const Tensor& positions, const Scalar& value) const {
    return tend::scatter(self(), d, positions, value);
  }
  Tensor scatter_add(std::int64_t d, const Tensor& positions, const Tensor& source) const {
    return tend::scatter_add(self(), d, positions, source);
  }
  Tensor scatter_reduce(std::int64_t d, const Tensor& positions, const Tensor& source,
                        OrWord<ScatterReduction> reduce, Flag include_self = true) const {
    return tend::scatter_reduce(self(), d, positions, source, reduce, include_self);
  }
  Tensor index_select(std::int64_t d, const Tensor& positions) const {
    return tend::index_select(self(), d, positions);
  }
  Tensor index_add(std::int64_t d, const Tensor& positions, const Tensor& source,
                   const Scalar& alpha = 1) const {
    return tend::index_add(self(), d, positions, source, alpha);
  }
  Tensor slice_scatter(const Tensor& source, std::int64_t d = 0,
                       std::optional<Integer> start = std::nullopt,
                       std::optional<Integer> stop = std::nullopt, std::int64_t step = 1) const {
    return tend::slice_scatter(self(), source, d, start, stop, step);
  }
  Tensor select_scatter(const Tensor& source, std::int64_t d, std::int64_t position) const {
    return tend::select_scatter(self(), source, d, position);
  }
  Tensor quantile(double q, std::optional<Integer> d = std::nullopt, Flag keepdim = false,
                  OrWord<Interpolation> interpolation = Interpolation::linear) const {
    return tend::quantile(self(), q, d, keepdim, interpolation);
  }
  Tensor quantile(const Tensor& q, std::optional<Integer> d = std::nullopt, Flag keepdim = false,
                  OrWord<Interpolation> interpolation = Interpolation::linear) const {
    return tend::quantile(self(), q, d, keepdim, interpolation);
  }
  UniqueElements unique_consecutive(Flag return_inverse = false, Flag return_counts = false,
                                    std::optional<Integer> d = std::nullopt) const {
    return tend::unique_consecutive(self(), return_inverse, return_counts, d);
  }
  Tensor index_copy(std::int64_t d, const Tensor& positions, const Tensor& source) const {
    return tend::index_copy(self(), d, positions, source);
  }
  Tensor index_fill(std::int64_t d, const Tensor& positions, const Scalar& value) const {
    return tend::index_fill(self(), d, positions, value);
  }
  Tensor index_fill(std::int64_t d, const Tensor& positions, const Tensor& value) const {
    return tend::index_fill(self(), d, positions, value);
  }
  Tensor take_along_dim(const Tensor& positions, std::optional<Integer> d = std::nullopt) const {
    return tend::take_along_dim(self(), positions, d);
  }

  // Elements anywhere in the tensor.

  Tensor index_put(Indices indices, const Tensor& values, Flag accumulate = false) const {
    return tend::index_put(self(), indices, values, accumulate);
  }
  Tensor take(const Tensor& positions) const { return tend::take(self(), positions); }
  Tensor masked_select(const Tensor& mask) const { return tend::masked_select(self(), mask); }
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const {
    return tend::masked_scatter(self(), mask, source);
  }
  Tensor nonzero() const { return tend::nonzero(self()); }
  std::vector<Tensor> nonzero_numpy() const { return tend::nonzero_numpy(self()); }

  // Orderings.

  ValuesAndIndices sort(Integer d = -1, Flag descending = false, Flag stable = false) const {
    return tend::sort(self(), d, descending, stable);
  }
  Tensor argsort(Integer d = -1, Flag descending = false, Flag stable = false) const {
    return tend::argsort(self(), d, descending, stable);
  }
  ValuesAndIndices topk(std::int64_t k, Integer d = -1, Flag largest = true,
                        Flag sorted = true) const {
    return tend::topk(self(), k, d, largest, sorted);
  }
  UniqueElements unique(Flag sorted = true, Flag return_inverse = false, Flag return_counts = false,
                        std::optional<Integer> d = std::nullopt) const {
    return tend::unique(self(), sorted, return_inverse, return_counts, d);
  }
  Tensor bincount(std::int64_t minlength = 0) const { return tend::bincount(self(), minlength); }
  Tensor bincount(const Tensor& weights, std::int64_t minlength = 0) const {
    return tend::bincount(self(), weights, minlength);
  }

  // Random numbers. The tensor contains the probabilities or weights. If p is a number, only the
  // tensor's shape and dtype matter.

  Tensor bernoulli(Generator& generator = default_generator()) const {
    return tend::bernoulli(self(), generator);
  }
  Tensor bernoulli(double p, Generator& generator = default_generator()) const {
    return tend::bernoulli(self(), p, generator);
  }
  Tensor multinomial(std::int64_t samples, Flag replacement = false,
                     Generator& generator = default_generator()) const {
    return tend::multinomial(self(), samples, replacement, generator);
  }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }
};

}  // namespace methods
}  // namespace tend
