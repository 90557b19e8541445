// Sorting along a dimension, and searching in what is sorted.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// `a` sorted along `dim` into `values` (a's dtype), and the indices that its elements had into
/// `indices` (int64). Equal elements keep their order; NaN counts as the largest.
void sort(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
          bool descending = false);

/// The numbers of the rows of a matrix into `indices` (int64), in the order of their first
/// elements, where these are equal of their second ones, and so on. Equal rows keep their order;
/// NaN counts as the largest.
void sort_rows(const Array& indices, const Array& rows);

/// The k largest (smallest) along `dim`, best first; of equal ones the earlier. NaN counts as the
/// largest. `values` and `indices` have size k along `dim`; ShapeError when k is negative or more
/// than there are.
void topk(const Array& values, const Array& indices, const Array& a, std::int64_t k,
          std::int64_t dim, bool largest = true);

/// Adds to counts[i] how many of the elements are i, or the sum of their weights if those are
/// defined. `elements` (int64) and `weights`, of the dtype of counts, are 1-d; without weights that
/// is int64.
void bincount(const Array& counts, const Array& elements, const Array& weights);

/// The middle element along `dim`, of two the lower one, and its index; the first NaN where there
/// is one. `values` and `indices` (int64) have size 1 along `dim`.
void median(const Array& values, const Array& indices, const Array& a, std::int64_t dim);
/// The middle one of all elements in ascending order, of two the lower; NaN if there is one. `a`
/// has elements, `out` is one of its dtype.
void median(const Array& out, const Array& a);

/// For each of `values` how many elements of its ascending row are smaller (`right`: smaller or
/// equal). `rows` is row-major, of values' dtype (not bool: DTypeError), and either 1-d or of
/// values' shape but for the last dimension; `out` is int64, and like `values` row-major and of
/// values' shape.
void searchsorted(const Array& out, const Array& rows, const Array& values, bool right);

}  // namespace tend::kernels
