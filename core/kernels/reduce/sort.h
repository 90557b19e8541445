// Sorting along a dimension, and searching in sorted arrays.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Writes the sorted elements of `a` along `dim` to `values`, and the indices that they had in `a`
/// to `indices`.
///
/// `values` has a's dtype, `indices` is int64. Equal elements keep their order. NaN counts as the
/// largest.
void sort(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
          bool descending = false);

/// Writes the sorted order of the rows of a matrix to `indices` (int64).
///
/// Rows are compared by their first elements, then by their second ones, and so on. Equal rows keep
/// their order. NaN counts as the largest.
void sort_rows(const Array& indices, const Array& rows);

/// The k largest (smallest) elements along `dim`, best first. Among equal elements, the earlier one
/// is first.
///
/// NaN counts as the largest. `values` and `indices` have size k along `dim`.
///
/// Throws: ShapeError - k is negative, or larger than the dimension
void topk(const Array& values, const Array& indices, const Array& a, std::int64_t k,
          std::int64_t dim, bool largest = true);

/// Adds to counts[i] the number of elements that are i, or the sum of their weights if `weights` is
/// defined.
///
/// `elements` (int64) and `weights` are 1-d. `weights` has the dtype of `counts`, which is int64
/// without weights.
void bincount(const Array& counts, const Array& elements, const Array& weights);

/// The median along `dim` and its index. For an even count, it is the lower of the two middle
/// elements. If there is a NaN, the first NaN is the result.
///
/// `values` and `indices` (int64) have size 1 along `dim`.
void median(const Array& values, const Array& indices, const Array& a, std::int64_t dim);
/// The median of all elements. For an even count, it is the lower of the two middle elements. The
/// result is NaN if any element is NaN.
///
/// `a` has at least one element. `out` has one element of a's dtype.
void median(const Array& out, const Array& a);

/// Counts for each element of `values` the smaller elements in the corresponding row of `rows`.
/// With `right`, equal elements count, too.
///
/// `rows` is sorted in ascending order along its last dimension, and row-major. It has values'
/// dtype, and is either 1-d or has values' shape except for the last dimension. `out` is int64.
/// `values` and `out` are row-major and have one shape.
///
/// Throws: DTypeError - the dtype is bool
void searchsorted(const Array& out, const Array& rows, const Array& values, bool right);

}  // namespace tend::kernels
