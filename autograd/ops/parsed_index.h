// Indexing by tensors: what indices mean, and the operations by which all functions with such
// indices read and write elements.
#pragma once

#include <span>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/kernels/indexing/index_arrays.h>

namespace tend {

/// What x[{...}] names: a view of x by all indices that are not tensors, and index arrays that
/// choose elements of this view.
struct ParsedIndex {
  Tensor view;
  kernels::IndexArrays arrays;
  bool is_by_mask = false;  // the only tensor among the indices is a mask

  bool is_view() const noexcept { return arrays.dims.empty(); }
};

/// Parses and checks `indices`, whose rules are those of tend::index. Errors name `operation`.
ParsedIndex parse_index(const char* operation, const Tensor& self, std::span<const Index> indices);

/// Index arrays for the positions `index` of self along one dimension: int64 (DTypeError), 0-d or
/// 1-d (ShapeError). Negative positions count from the end if `from_end`, otherwise they are an
/// IndexError, like those out of range.
kernels::IndexArrays arrays_along(const char* operation, const Tensor& self, std::int64_t dim,
                                  const Tensor& index, bool from_end);

/// Index arrays for the true elements of a bool array of at least one dimension.
kernels::IndexArrays arrays_of_mask(const Array& mask);

/// The elements that `arrays` name. `node` is what grad_fn prints; it and `operation` must live
/// forever.
Tensor take_indexed(const char* node, const Tensor& self, const kernels::IndexArrays& arrays,
                    const char* operation = __builtin_FUNCTION());

/// DTypeError or ShapeError unless `values` can be written to the elements that `arrays` name.
void check_values(const char* operation, const Tensor& self, const kernels::IndexArrays& arrays,
                  const Tensor& values);

/// A copy of self with `values` written to the elements that `arrays` name, or added to them if
/// `accumulate`. The caller has checked the values.
Tensor put_indexed(const char* node, const Tensor& self, const kernels::IndexArrays& arrays,
                   const Tensor& values, bool accumulate,
                   const char* operation = __builtin_FUNCTION());

/// The same in place, and with the checks. Other elements are not touched.
void write_indexed(const char* operation, const char* node, const Tensor& self,
                   const kernels::IndexArrays& arrays, const Tensor& values, bool accumulate);

/// The write of index_put_. A single value for a mask takes the dtype of the tensor, as that of
/// masked_fill does, unless it is added; other values have it (DTypeError).
void write_parsed(const char* operation, const ParsedIndex& found, const Tensor& values,
                  bool accumulate);

///@{
/// The number as a 0-d tensor of self's dtype, or the tensor of one element in it; DTypeError if
/// that cannot hold it.
Tensor number_for(const char* operation, const Tensor& self, const Scalar& number);
Tensor number_for(const char* operation, const Tensor& self, const Tensor& number);
///@}

/// `value` without leading dimensions of size 1 as long as it has more than `rank` dimensions, as
/// PyTorch assigns values.
Tensor without_leading_ones(Tensor value, std::int64_t rank);

}  // namespace tend
