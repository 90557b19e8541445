/// \file
/// x[...], and other functions that read and write elements by indices or masks.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/autograd/tensor/index.h>

namespace tend {

class Tensor;

/// Returns x[{...}]: the elements of self that the indices name, dimension by dimension.
///
/// - An integer or a 0-d int64 tensor picks one position. A negative one counts from the end.
/// - A Slice picks a range.
/// - newaxis inserts a new dimension of size 1.
/// - ellipsis stands for all dimensions that are not indexed.
/// - An int64 tensor names positions. Negative ones count from the end. All such tensors broadcast
///   together. The dimensions of their common shape replace the dimensions that they index. If the
///   replaced dimensions are not neighbours, the new dimensions come first.
/// - A bool tensor has the shape of the dimensions that it covers. It names the positions of its
///   true elements (see nonzero_numpy), in order.
/// - A bool, or a 0-d bool tensor, inserts a new dimension of size 1 (true) or 0 (false).
///
/// With integers, slices, newaxis and ellipsis only, the result is a view. With any other index it
/// is a copy. As in PyTorch, an integer does not count as one of the tensors whose dimensions must
/// be neighbours (in NumPy it does). For i of shape (n), zeros({2, 3, 4})[{0, Slice{}, i}] has
/// shape (3, n).
///
/// The gradient of self is the result's gradient at the indexed elements, and zero elsewhere. The
/// gradient of an element that is named more than once is the sum over its copies.
///
/// Throws:
///   IndexError - there are too many indices, or several ellipses
///   IndexError - a position is outside of its dimension
///   IndexError - a mask does not have the shape of the dimensions that it covers
///   DTypeError - an index is a tensor that is neither int64 nor bool
///   ShapeError - the index tensors do not broadcast together
///
/// https://pytorch.org/docs/2.6/tensor_view.html,
/// https://numpy.org/doc/stable/user/basics.indexing.html
Tensor index(const Tensor& self, Indices indices);

/// Returns a copy of self with `values` written to the indexed elements.
///
/// With `accumulate`, the values are added to these elements instead. If an element is named more
/// than once, `accumulate` adds all of its values. Without `accumulate`, the last value stays. The
/// values have self's dtype and broadcast to the shape of self[indices]. Without `accumulate`, a
/// single value for a mask is converted to self's dtype, as by masked_fill. The indices are the
/// same as for index. The in-place form index_put_ touches no other elements.
///
/// The gradient of self is the result's gradient, with zeros at the indexed elements unless
/// `accumulate` is true. The gradient of the values is the result's gradient at these elements. As
/// in PyTorch, a value that a later value replaced gets this gradient, too.
///
/// Throws:
///   IndexError, DTypeError, ShapeError - the indices are wrong, as for index
///   DTypeError                         - the values have another dtype than self
///   ShapeError                         - the values do not broadcast to the shape of self[indices]
///
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_put_.html
Tensor index_put(const Tensor& self, Indices indices, const Tensor& values,
                 Flag accumulate = false);

/// Returns a copy of self in which the slices of `source` replace the slices that `index` names.
///
/// The slices are along `dim`. `index` is int64, 0-d or 1-d. `source` has self's dtype, and self's
/// shape except along `dim`. The gradient of self is the result's gradient, with zeros in the
/// replaced slices. The gradient of `source` is the result's gradient in these slices.
///
/// Throws:
///   DTypeError - `index` is not int64
///   DTypeError - `source` has another dtype than self
///   ShapeError - `index` has more than one dimension
///   ShapeError - the shape of `source` does not fit
///   IndexError - `dim` is out of range
///   IndexError - a position is out of range or negative
///
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_copy_.html
Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

///@{
/// Returns a copy of self with a number written to the slices along `dim` that `index` names.
///
/// `index` is int64, 0-d or 1-d. Negative positions count from the end. The value is a number or a
/// 0-d tensor, and is converted to self's dtype. The gradient of self is the result's gradient,
/// with zeros in these slices. The gradient of the value is the sum of the result's gradient over
/// these slices.
///
/// Throws:
///   DTypeError - `index` is not int64
///   DTypeError - self's dtype cannot hold the number
///   ShapeError - `index` has more than one dimension
///   ShapeError - the value is a tensor that is not 0-d
///   IndexError - `dim` or a position is out of range
///
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.index_fill_.html
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value);
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value);
///@}

/// Returns the elements of the flattened self at the positions in `index`.
///
/// `index` is int64. The result has its shape and self's dtype. Negative positions count from the
/// end. The gradient of an element is the sum of the result's gradient over its copies.
///
/// Throws:
///   DTypeError - `index` is not int64
///   IndexError - a position is out of range
///
/// https://pytorch.org/docs/2.6/generated/torch.take.html
Tensor take(const Tensor& self, const Tensor& index);

/// Returns the elements of self where the mask is true, in one dimension.
///
/// self and the bool mask broadcast. The result has self's dtype. The gradient of self is the
/// result's gradient where the mask is true, and zero elsewhere.
///
/// Throws:
///   DTypeError - the mask is not bool
///   ShapeError - self and the mask do not broadcast
///
/// https://pytorch.org/docs/2.6/generated/torch.masked_select.html
Tensor masked_select(const Tensor& self, const Tensor& mask);

/// Returns a copy of self in which elements of `source` replace the elements where the mask is
/// true.
///
/// self and the bool mask broadcast. `source` has self's dtype and any shape; its first elements
/// are used, in order. The gradient of self is the result's gradient where the mask is false, and
/// zero elsewhere. The gradient of the used elements of `source` is the result's gradient where the
/// mask is true, in order.
///
/// Throws:
///   DTypeError - the mask is not bool
///   DTypeError - `source` has another dtype than self
///   ShapeError - self and the mask do not broadcast
///   ShapeError - `source` has fewer elements than the mask has true elements
///
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.masked_scatter_.html
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);

/// Returns the positions of the elements that are not zero, in row-major order.
///
/// The result is int64 of shape (count, rank). self may have any dtype. NaN is not zero. No
/// gradient.
///
/// https://pytorch.org/docs/2.6/generated/torch.nonzero.html
Tensor nonzero(const Tensor& self);
/// Returns the positions of the elements that are not zero, as one vector for each dimension.
///
/// Each vector is int64 of shape (count), in row-major order, and can be used as an index: x[{p[0],
/// p[1]}]. A 0-d tensor counts as 1-d. This is torch.nonzero(x, as_tuple=True). No gradient.
std::vector<Tensor> nonzero_numpy(const Tensor& self);

}  // namespace tend
