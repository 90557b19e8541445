// Methods of Tensor: places named by tensors, and orderings. Each calls the free function of its
// name, which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/ops.h>

namespace tend::methods {

/// A base of Tensor, which stands in its place as the template's argument.
template <class Tensor>
class Indexing {
 public:
  // Places along a dimension.

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
  Tensor index_select(std::int64_t d, const Tensor& positions) const {
    return tend::index_select(self(), d, positions);
  }
  Tensor index_add(std::int64_t d, const Tensor& positions, const Tensor& source) const {
    return tend::index_add(self(), d, positions, source);
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

  // Places anywhere.

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

  auto sort(std::int64_t d = -1, Flag descending = false) const {
    return tend::sort(self(), d, descending);
  }
  Tensor argsort(std::int64_t d = -1, Flag descending = false) const {
    return tend::argsort(self(), d, descending);
  }
  auto topk(std::int64_t k, std::int64_t d = -1, Flag largest = true) const {
    return tend::topk(self(), k, d, largest);
  }
  auto unique(Flag sorted = true, Flag return_inverse = false, Flag return_counts = false) const {
    return tend::unique(self(), sorted, return_inverse, return_counts);
  }
  Tensor bincount(std::int64_t minlength = 0) const { return tend::bincount(self(), minlength); }
  Tensor bincount(const Tensor& weights, std::int64_t minlength = 0) const {
    return tend::bincount(self(), weights, minlength);
  }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }
};

}  // namespace tend::methods
