// Elements that tensors name: what indices mean, and the two operations that all such reading and
// writing is made of.
#pragma once

#include <span>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/kernels/indexing/index_arrays.h>

namespace tend {

/// What x[{...}] names: a view of x by all indices that are no tensors, and places in that.
struct ParsedIndex {
  Tensor view;
  kernels::IndexArrays arrays;

  bool is_view() const noexcept { return arrays.dims.empty(); }
};

/// The meaning of `indices` (tend::index, which has the rules). Everything is checked here; errors
/// name `operation`.
ParsedIndex parse_index(const char* operation, const Tensor& self, std::span<const Index> indices);

/// `self` at positions along one dimension; `index` is 0-d or 1-d. Where `from_end`, negative
/// positions count from the end.
kernels::IndexArrays arrays_along(const char* operation, const Tensor& self, std::int64_t dim,
                                  const Tensor& index, bool from_end);

/// Where a bool array of at least one dimension is true.
kernels::IndexArrays arrays_of_mask(const Array& mask);

/// The elements at the places; `node` names the operation in the graph and must live forever.
Tensor take_indexed(const char* node, const Tensor& self, const kernels::IndexArrays& arrays,
                    const char* operation = __builtin_FUNCTION());

/// DTypeError or ShapeError unless `values` can be written at the places.
void check_values(const char* operation, const Tensor& self, const kernels::IndexArrays& arrays,
                  const Tensor& values);

/// A copy of self with `values`, which were checked, at the places, or added there.
Tensor put_indexed(const char* node, const Tensor& self, const kernels::IndexArrays& arrays,
                   const Tensor& values, bool accumulate,
                   const char* operation = __builtin_FUNCTION());

/// The same in place. Nothing but the places is touched.
void write_indexed(const char* operation, const char* node, const Tensor& self,
                   const kernels::IndexArrays& arrays, const Tensor& values, bool accumulate);

/// The number as a 0-d tensor of self's dtype; DTypeError where int64 cannot hold it.
Tensor number_for(const char* operation, const Tensor& self, const Scalar& number);

/// `value` without dimensions of size 1 that it has in front of `rank` others: as PyTorch assigns.
Tensor without_leading_ones(Tensor value, std::int64_t rank);

}  // namespace tend
