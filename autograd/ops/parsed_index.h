// Indexing by tensors. All functions with such indices use these: a parser for the indices, and
// operations that read and write the indexed elements.
#pragma once

#include <span>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/kernels/indexing/index_arrays.h>

namespace tend {

/// The parsed index of x[{...}]: a view of x by all indices that are not tensors, and index arrays
/// that choose elements of this view.
struct ParsedIndex {
  Tensor view;
  kernels::IndexArrays arrays;
  bool is_by_mask = false;  // exactly one index is a tensor, and it is a mask

  bool is_view() const noexcept { return arrays.dims.empty(); }
};

/// Parses and checks `indices` by the rules of tend::index.
///
/// Errors name `operation`.
ParsedIndex parse_index(const char* operation, const Tensor& self, std::span<const Index> indices);

/// Returns index arrays for the positions `index` along one dimension of self.
///
/// `index` is int64, and 0-d or 1-d. Negative positions count from the end if `from_end`.
///
/// Throws:
///   DTypeError - the index is not int64
///   IndexError - a position is out of range, or is negative without `from_end`
///   ShapeError - the index has more than one dimension
kernels::IndexArrays arrays_along(const char* operation, const Tensor& self, std::int64_t dim,
                                  const Tensor& index, bool from_end);

/// Returns index arrays for the true elements of a bool array with at least one dimension.
kernels::IndexArrays arrays_of_mask(const Array& mask);

/// Reads the elements that `arrays` select, as an operation with a gradient.
///
/// `node` is the name that grad_fn prints. The strings `node` and `operation` must live forever.
Tensor take_indexed(const char* node, const Tensor& self, const kernels::IndexArrays& arrays,
                    const char* operation = __builtin_FUNCTION());

/// Checks that `values` can be written to the elements that `arrays` select.
///
/// Throws:
///   DTypeError - `values` has another dtype than self
///   ShapeError - `values` does not broadcast to these elements
void check_values(const char* operation, const Tensor& self, const kernels::IndexArrays& arrays,
                  const Tensor& values);

/// Copies self with `values` written to the elements that `arrays` select, or added if
/// `accumulate`.
///
/// The caller has checked the values.
Tensor put_indexed(const char* node, const Tensor& self, const kernels::IndexArrays& arrays,
                   const Tensor& values, bool accumulate,
                   const char* operation = __builtin_FUNCTION());

/// Does what put_indexed does, but in place, and checks the values.
///
/// Other elements are not touched.
void write_indexed(const char* operation, const char* node, const Tensor& self,
                   const kernels::IndexArrays& arrays, const Tensor& values, bool accumulate);

/// Writes `values` to the elements of a parsed index, as index_put_ does.
///
/// `values` must have the tensor's dtype. One exception: a single value for a mask is converted to
/// this dtype, as in masked_fill, unless `accumulate`.
///
/// Throws: DTypeError - `values` has another dtype, or the dtype cannot hold the single value
void write_parsed(const char* operation, const ParsedIndex& found, const Tensor& values,
                  bool accumulate);

///@{
/// Converts a number to a 0-d tensor of self's dtype, or a one-element tensor to this dtype.
///
/// Throws: DTypeError - self's dtype cannot hold the number
Tensor number_for(const char* operation, const Tensor& self, const Scalar& number);
Tensor number_for(const char* operation, const Tensor& self, const Tensor& number);
///@}

/// Removes leading dimensions of size 1 while `value` has more than `rank` dimensions.
///
/// PyTorch does the same when it assigns values.
Tensor without_leading_ones(Tensor value, std::int64_t rank);

}  // namespace tend
