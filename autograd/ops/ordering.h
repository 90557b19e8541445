// Orderings, and what follows from them. Equal elements keep their order; NaN counts as the
// largest.
#pragma once

#include <cstdint>

#include <tend/core/scalar.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct UniqueElements;

/// All elements along `dim` in order, with the indices that they had.
ValuesAndIndices sort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
/// The indices of sort: self.take_along_dim(argsort(self, dim), dim) is in order. No gradient.
Tensor argsort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
/// The k largest (or smallest) along `dim`, best first; ShapeError when there are fewer.
ValuesAndIndices topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1,
                      bool largest = true);

/// The different elements, in order whatever `sorted` says (which is PyTorch's third parameter in
/// Python). On demand, for each element of self the index of its value, in self's shape, and for
/// each value how often it occurs; both int64. Every NaN is different from the others. No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.unique.html
UniqueElements unique(const Tensor& self, bool sorted = true, bool return_inverse = false,
                      bool return_counts = false);

/// How often each of 0, 1, ..., max(self) occurs in the 1-d int64 tensor (ShapeError, DTypeError;
/// IndexError for negative elements), int64; at least `minlength` counts. No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.bincount.html
Tensor bincount(const Tensor& self, std::int64_t minlength = 0);
/// The sums of the weights (of self's shape, ShapeError) instead of counts: float32 for float32
/// weights, else float64.
Tensor bincount(const Tensor& self, const Tensor& weights, std::int64_t minlength = 0);

/// For each of `values` how many elements of the ascending sequence are smaller (with `right`:
/// smaller or equal), which is where it would be inserted: int64, of values' shape. The sequence is
/// 1-d, or has values' leading dimensions (ShapeError); the order is not checked. NaN goes to the
/// end; bool is a DTypeError. No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.searchsorted.html
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right = false);
/// A number in a 1-d sequence gives a 0-d tensor.
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& value, bool right = false);

}  // namespace tend
