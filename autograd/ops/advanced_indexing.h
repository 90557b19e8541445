/// \file
/// x[...], and other reading and writing of elements that indices or masks name.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/autograd/tensor/index.h>

namespace tend {

class Tensor;

/// x[{...}]: what the indices name, dimension by dimension.
///
/// - An integer or a 0-d int64 tensor picks one position (negative: from the end), a Slice a range;
///   newaxis is a new dimension of size 1, ellipsis stands for all dimensions that are not indexed.
///   With these alone the result is a view.
/// - int64 tensors name positions (negative: from the end). They broadcast together, and the
///   dimensions of their common shape replace the dimensions that they index, or come first where
///   these are not neighbours.
/// - A bool tensor has the shape of the dimensions that it covers, and stands for the positions of
///   its true elements (nonzero_numpy), in order; a 0-d one, or a bool, is a new dimension of size
///   1 (true) or 0.
///
/// Integers do not count as neighbours of tensors, as in PyTorch (in NumPy they are): zeros({2, 3,
/// 4})[{0, Slice{}, i}] is (3, n). With tensors the result is a copy. IndexError for too many
/// indices, positions outside of a dimension and masks of another shape, DTypeError for other
/// tensors, ShapeError where they do not broadcast. The gradient of self is the result's at the
/// indexed elements, zeros elsewhere; for an element that is named more than once it is the sum.
/// https://pytorch.org/docs/2.6/tensor_view.html,
/// https://numpy.org/doc/stable/user/basics.indexing.html
Tensor index(const Tensor& self, Indices indices);

/// A copy of self with `values` written to the indexed elements, or added to them when
/// `accumulate`. The values have self's dtype (DTypeError; unless `accumulate`, a single one for a
/// mask is converted, as that of masked_fill) and broadcast to the shape of self[indices]
/// (ShapeError). Where an element is named more than once, all values are added, or the last one
/// stays. Indices and their errors are those of index; index_put_ touches no other elements. The
/// gradient of self is the result's, with zeros at the indexed elements unless `accumulate`; that
/// of the values is the result's at these elements, also where another value stayed, as in PyTorch.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_put_.html
Tensor index_put(const Tensor& self, Indices indices, const Tensor& values,
                 Flag accumulate = false);

/// A copy of self with the slices of `source` along `dim` in place of those that the 0-d or 1-d
/// int64 `index` (ShapeError, DTypeError) names. The source has self's dtype (DTypeError) and
/// shape, but for `dim` (ShapeError). IndexError for `dim` and positions out of range, also for
/// negative ones. The gradient of self is the result's with zeros in these slices, that of the
/// source the result's slices. https://pytorch.org/docs/2.6/generated/torch.Tensor.index_copy_.html
Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

///@{
/// A copy of self with a number in the slices along `dim` that the 0-d or 1-d int64 `index` names
/// (negative: from the end), converted to self's dtype. ShapeError for an index of other rank and
/// for a value that is not 0-d, DTypeError for another index and where the dtype cannot hold the
/// number, IndexError for `dim` and positions out of range. The gradient of self is the result's
/// with zeros in these slices, that of the value is the sum over them.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_fill_.html
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value);
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);
///@}

/// The elements at the int64 (DTypeError) positions in the flattened self (negative: from the end;
/// IndexError), in index's shape. The gradient of an element is the sum over its copies.
/// https://pytorch.org/docs/2.6/generated/torch.take.html
Tensor take(const Tensor& self, const Tensor& index);

/// The elements where the mask is true, in one dimension; both broadcast (ShapeError). DTypeError
/// unless the mask is bool. The gradient of self is the result's where the mask is true, zero
/// elsewhere. https://pytorch.org/docs/2.6/generated/torch.masked_select.html
Tensor masked_select(const Tensor& self, const Tensor& mask);

/// A copy of self (broadcast with the mask) with the first elements of `source`, one after the
/// other, where the mask is true. ShapeError when there are too few, or where they do not
/// broadcast; DTypeError for another dtype, and unless the mask is bool. The gradient of self is
/// the result's where the mask is false, zero elsewhere; the elements that were taken from `source`
/// get the rest, in order. https://pytorch.org/docs/2.6/generated/torch.Tensor.masked_scatter_.html
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);

/// The positions of the elements that are not zero (NaN counts as such), in order: int64 (count,
/// rank). No gradient. https://pytorch.org/docs/2.6/generated/torch.nonzero.html
Tensor nonzero(const Tensor& self);
/// The same as one vector for each dimension, as indexing takes it: x[{p[0], p[1]}]. A 0-d tensor
/// counts as 1-d. (torch.nonzero(x, as_tuple=True)) No gradient.
std::vector<Tensor> nonzero_numpy(const Tensor& self);

}  // namespace tend
