// x[...], and other places that tensors name in any dimensions.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/autograd/indexing.h>

namespace tend {

class Tensor;

/// x[{...}]: what the indices name, dimension by dimension.
///
/// - An integer or a 0-d int64 tensor picks one position (negative: from the end), a Slice a range;
///   newaxis is a new dimension of size 1, ellipsis stands for all dimensions that are not indexed.
///   With these alone the result is a view.
/// - int64 tensors name positions (negative: from the end). They broadcast together, and the
///   dimensions of their common shape stand in the place of the dimensions that they index, or in
///   front where these are not neighbours.
/// - A bool tensor has the shape of the dimensions that it covers, and stands for the positions of
///   its true elements (nonzero_numpy), in order; a 0-d one, or a bool, is a new dimension of size
///   1 (true) or 0.
///
/// Integers are no neighbours of tensors, as in PyTorch (in NumPy they are): zeros({2, 3, 4})[{0,
/// Slice{}, i}] is (3, n). With tensors the result is a copy; where an element is named more than
/// once, its gradients add up. IndexError for too many indices, positions outside of a dimension
/// and masks of another shape, DTypeError for other tensors, ShapeError where they do not
/// broadcast. https://pytorch.org/docs/2.6/tensor_view.html,
/// https://numpy.org/doc/stable/user/basics.indexing.html
Tensor index(const Tensor& self, Indices indices);

/// A copy of self with `values` at the indexed places, or added there when `accumulate`. The values
/// have self's dtype (DTypeError) and broadcast to the shape of self[indices] (ShapeError). Where
/// an element is named more than once, all are added up, or the last stays (all of these values get
/// its gradient, as in PyTorch). index_put_ touches the places alone.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_put_.html
Tensor index_put(const Tensor& self, Indices indices, const Tensor& values,
                 bool accumulate = false);

/// A copy of self with the slices of `source` along `dim` in place of those that the 0-d or 1-d
/// int64 `index` names. The source has self's dtype and shape, but for `dim`. IndexError for
/// negative positions, too. https://pytorch.org/docs/2.6/generated/torch.Tensor.index_copy_.html
Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// A copy of self with a number in the slices along `dim` that the 0-d or 1-d int64 `index` names
/// (negative: from the end). A tensor is 0-d (ShapeError); it is converted to self's dtype and its
/// gradient is the sum over the slices.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_fill_.html
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value);
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);

/// The elements at the positions in the flattened self (negative: from the end), in index's shape.
/// https://pytorch.org/docs/2.6/generated/torch.take.html
Tensor take(const Tensor& self, const Tensor& index);

/// The elements where the mask is true, in one dimension; both broadcast. DTypeError unless the
/// mask is bool. https://pytorch.org/docs/2.6/generated/torch.masked_select.html
Tensor masked_select(const Tensor& self, const Tensor& mask);

/// A copy of self (broadcast with the mask) with the first elements of `source`, one after the
/// other, where the mask is true. ShapeError when there are too few, DTypeError for another dtype.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.masked_scatter_.html
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);

/// The positions of the elements that are not zero (NaN is not), in order: int64 (count, rank). No
/// gradient. https://pytorch.org/docs/2.6/generated/torch.nonzero.html
Tensor nonzero(const Tensor& self);
/// The same as one vector for each dimension, as indices want it: x[{p[0], p[1]}]. A 0-d tensor
/// counts as 1-d. (torch.nonzero(x, as_tuple=True))
std::vector<Tensor> nonzero_numpy(const Tensor& self);

}  // namespace tend
