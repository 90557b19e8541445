/// \file
/// Sorting, and operations that build on it. Equal elements keep their order; NaN counts as the
/// largest. Any dtype, unless stated.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/scalar.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct UniqueElements;

/// All elements along `dim` (IndexError) in order, with their int64 indices in self. Equal ones
/// keep their order, whatever `stable` says (it is there because PyTorch has it); NaN counts as the
/// largest. The gradient goes back to the positions the elements came from.
ValuesAndIndices sort(const Tensor& self, Integer dim = -1, Flag descending = false,
                      Flag stable = false);
/// The indices of sort, int64: self.take_along_dim(argsort(self, dim), dim) is in order. IndexError
/// for `dim`. No gradient.
Tensor argsort(const Tensor& self, Integer dim = -1, Flag descending = false, Flag stable = false);
/// The k largest (or smallest) along `dim` (IndexError), best first whatever `sorted` says (it is
/// there because PyTorch has it), with their int64 indices; NaN counts as the largest. ShapeError
/// when there are fewer. The gradient goes to the chosen elements, zero elsewhere.
ValuesAndIndices topk(const Tensor& self, std::int64_t k, Integer dim = -1, Flag largest = true,
                      Flag sorted = true);

/// The distinct elements, in ascending order whatever `sorted` says (it is there because PyTorch
/// has it). On demand, for each element of self the index of its value, in self's shape, and for
/// each value how often it occurs; both int64. Every NaN is different from the others. Any dtype.
///
/// With `dim` (IndexError, also for a 0-d tensor) the distinct slices along it, ordered by their
/// first elements, then by their second ones, and so on; the inverse and the counts are those of
/// the slices. ShapeError for slices without elements. No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.unique.html
UniqueElements unique(const Tensor& self, Flag sorted = true, Flag return_inverse = false,
                      Flag return_counts = false, std::optional<Integer> dim = std::nullopt);

/// How often each of 0, 1, ..., max(self) occurs in the 1-d int64 tensor (ShapeError, DTypeError;
/// IndexError for negative elements), int64; at least `minlength` counts (ShapeError when
/// negative). No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.bincount.html
Tensor bincount(const Tensor& self, std::int64_t minlength = 0);
/// The sums of the weights (of self's shape, ShapeError) instead of counts: float32 for float32
/// weights, else float64. No gradient.
Tensor bincount(const Tensor& self, const Tensor& weights, std::int64_t minlength = 0);

/// For each of `values` how many elements of the ascending sequence are smaller (with `right`:
/// smaller or equal), which is where it would be inserted: int64, of values' shape. The sequence is
/// 1-d, or has values' leading dimensions (ShapeError); the order is not checked. NaN goes to the
/// end; bool is a DTypeError. No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.searchsorted.html
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, Flag right = false);
/// Where one number would be inserted into a 1-d sequence: 0-d. No gradient.
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& value, Flag right = false);

/// As unique, but only neighbours in row-major order are compared, and the order stays:
/// {1, 1, 2, 1} gives {1, 2, 1}; with `dim` neighbouring slices along it, with the errors of
/// unique. Any dtype. No gradient.
/// https://pytorch.org/docs/2.6/generated/torch.unique_consecutive.html
UniqueElements unique_consecutive(const Tensor& self, Flag return_inverse = false,
                                  Flag return_counts = false,
                                  std::optional<Integer> dim = std::nullopt);

///@{
/// Whether each element is among the test elements (with `invert`: is not): bool, of elements'
/// shape. NaN is not among any. The dtypes promote; `assume_unique` is there because PyTorch has
/// it. No gradient.
Tensor isin(const Tensor& elements, const Tensor& test_elements, Flag assume_unique = false,
            Flag invert = false);
Tensor isin(const Tensor& elements, const Scalar& test_element, Flag assume_unique = false,
            Flag invert = false);
Tensor isin(const Scalar& element, const Tensor& test_elements, Flag assume_unique = false,
            Flag invert = false);
///@}

}  // namespace tend
