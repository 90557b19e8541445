/// \file
/// Sorting, and operations that build on it. Equal elements keep their order, and NaN counts as the
/// largest. Any dtype is allowed unless a function says otherwise.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/scalar.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct UniqueElements;

/// Sorts the elements along `dim`, and returns them with their indices in self.
///
/// Both results have self's shape. The values have its dtype, and the indices are int64. Equal
/// elements always keep their order, so `stable` has no effect; it exists because PyTorch has it.
/// NaN counts as the largest. The gradient goes back to the positions that the elements came from.
///
/// Throws: IndexError - `dim` is out of range
ValuesAndIndices sort(const Tensor& self, Integer dim = -1, Flag descending = false,
                      Flag stable = false);
/// Returns the indices that sort self along `dim`.
///
/// They are sort's indices: int64, of self's shape. self.take_along_dim(argsort(self, dim), dim) is
/// in order. No gradient.
///
/// Throws: IndexError - `dim` is out of range
Tensor argsort(const Tensor& self, Integer dim = -1, Flag descending = false, Flag stable = false);
/// Returns the k largest or smallest elements along `dim` with their indices, best first.
///
/// Dimension `dim` of both results has size k. The values have self's dtype, and the indices are
/// int64. `sorted` has no effect; it exists because PyTorch has it. NaN counts as the largest. The
/// gradient goes to the chosen elements, and is zero elsewhere.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - k is negative, or larger than the size of `dim`
ValuesAndIndices topk(const Tensor& self, std::int64_t k, Integer dim = -1, Flag largest = true,
                      Flag sorted = true);

/// Returns the distinct elements of self in ascending order.
///
/// `sorted` has no effect; it exists because PyTorch has it. Any dtype is allowed. Every NaN is
/// different from the others. With `return_inverse`, `inverse` has self's shape, and contains the
/// index in `values` for each element of self. With `return_counts`, `counts` has the number of
/// occurrences of each value. Both are int64.
///
/// With `dim`, the distinct slices along it are found. They are ordered by their first elements,
/// then by their second ones, and so on. The inverse and the counts are then about the slices. No
/// gradient.
///
/// Throws:
///   IndexError - `dim` is out of range, or is given for a 0-d tensor
///   ShapeError - the slices along `dim` have no elements
///
/// https://pytorch.org/docs/2.6/generated/torch.unique.html
UniqueElements unique(const Tensor& self, Flag sorted = true, Flag return_inverse = false,
                      Flag return_counts = false, std::optional<Integer> dim = std::nullopt);

/// Counts how often each of the numbers 0, 1, 2 up to max(self) occurs in self.
///
/// self is 1-d and int64. The result is 1-d and int64, and has at least `minlength` counts. No
/// gradient.
///
/// Throws:
///   DTypeError - self is not int64
///   IndexError - an element is negative
///   ShapeError - self is not 1-d, or `minlength` is negative
///
/// https://pytorch.org/docs/2.6/generated/torch.bincount.html
Tensor bincount(const Tensor& self, std::int64_t minlength = 0);
/// Sums the weights of the occurrences of each number in self, instead of counting them.
///
/// The weights have self's shape. The result is float32 for float32 weights, and float64 otherwise.
/// As in PyTorch, it is int64 for an empty self. No gradient.
///
/// Throws:
///   DTypeError - self is not int64
///   IndexError - an element of self is negative
///   ShapeError - self is not 1-d, the weights have another shape, or `minlength` is negative
Tensor bincount(const Tensor& self, const Tensor& weights, std::int64_t minlength = 0);

/// Finds the index at which each value would be inserted into an ascending sequence.
///
/// The index is the number of elements of the sequence that are smaller than the value; with
/// `right`, smaller or equal. The result is int64 and has values' shape. The sequence is 1-d, or
/// has values' leading dimensions. Its order is not checked. NaN goes to the end. No gradient.
///
/// Throws:
///   DTypeError - both tensors are bool
///   ShapeError - the sequence is neither 1-d nor has values' leading dimensions
///
/// https://pytorch.org/docs/2.6/generated/torch.searchsorted.html
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, Flag right = false);
/// Finds the index at which a number would be inserted into a 1-d ascending sequence.
///
/// The result is 0-d and int64. No gradient.
///
/// Throws: ShapeError - the sequence is not 1-d
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& value, Flag right = false);

/// Removes each element that equals the one before it in row-major order.
///
/// The order stays: {1, 1, 2, 1} gives {1, 2, 1}. With `dim`, neighbouring slices along it are
/// compared. The inverse, the counts, the dtypes and the errors are unique's. No gradient.
///
/// https://pytorch.org/docs/2.6/generated/torch.unique_consecutive.html
UniqueElements unique_consecutive(const Tensor& self, Flag return_inverse = false,
                                  Flag return_counts = false,
                                  std::optional<Integer> dim = std::nullopt);

///@{
/// Returns whether each element is one of the test elements.
///
/// With `invert`, true means that the element is not one of them. The result is bool and has the
/// shape of `elements`. The dtypes promote. NaN is never one of the test elements. `assume_unique`
/// has no effect; it exists because PyTorch has it. No gradient.
Tensor isin(const Tensor& elements, const Tensor& test_elements, Flag assume_unique = false,
            Flag invert = false);
Tensor isin(const Tensor& elements, const Scalar& test_element, Flag assume_unique = false,
            Flag invert = false);
Tensor isin(const Scalar& element, const Tensor& test_elements, Flag assume_unique = false,
            Flag invert = false);
///@}

}  // namespace tend
