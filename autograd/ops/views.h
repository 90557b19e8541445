/// \file
/// Views, which share their input's elements, and the reshapes that copy only if necessary. Any
/// dtype is allowed. Dimensions may count from the end.
///
/// See https://pytorch.org/docs/2.6/tensor_view.html.
#pragma once

#include <optional>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// Returns self[index] along `dim`, without this dimension, as a view.
///
/// The result has self's dtype. The index may count from the end. The gradient is the result's
/// gradient at this index, and zero elsewhere.
///
/// Throws: IndexError - `dim` or the index is out of range, or self is 0-d
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
/// Returns Python's start:stop:step along `dim` as a view.
///
/// The result has self's dtype. A missing start is the beginning of the dimension, and a missing
/// stop is its end. Bounds outside the dimension are moved to its nearest end. The gradient is the
/// result's gradient at the chosen elements, and zero elsewhere.
///
/// Throws: IndexError - `dim` is out of range, self is 0-d, or the step is less than 1
Tensor slice(const Tensor& self, std::int64_t dim = 0, std::optional<Integer> start = std::nullopt,
             std::optional<Integer> stop = std::nullopt, std::int64_t step = 1);
/// Returns `length` elements along `dim`, beginning at `start`, as a view.
///
/// The result has self's dtype. `start` may count from the end. The gradient is the result's
/// gradient at these elements, and zero elsewhere.
///
/// Throws: IndexError - `dim` is out of range, self is 0-d, or the elements leave the dimension
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// Swaps two dimensions, as a view.
///
/// The result has self's dtype. The gradient is the result's gradient, transposed back.
///
/// Throws: IndexError - a dimension is out of range
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Swaps two dimensions, as a view: NumPy's name for transpose.
///
/// The result has self's dtype. The gradient and the errors are transpose's.
Tensor swapaxes(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Swaps the dimensions of a matrix, as a view.
///
/// The result has self's dtype. A tensor with fewer than two dimensions keeps its shape. The
/// gradient is the result's gradient, transposed back.
///
/// Throws: ShapeError - self has more than two dimensions
Tensor t(const Tensor& self);
/// Reorders the dimensions, as a view: dimension d of the result is dimension dims[d] of self.
///
/// The result has self's dtype. The gradient is the result's gradient, permuted back.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - `dims` does not name every dimension exactly once
Tensor permute(const Tensor& self, const Shape& dims);
/// Moves dimension `source` to position `destination`, as a view.
///
/// The result has self's dtype. The other dimensions keep their order. The gradient is the result's
/// gradient, moved back.
///
/// Throws: IndexError - a dimension is out of range
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination);
/// Moves dimensions source[i] to positions destination[i], as a view.
///
/// The result has self's dtype. The other dimensions keep their order. The gradient is the result's
/// gradient, moved back.
///
/// Throws:
///   IndexError - a dimension is out of range
///   ShapeError - the lists differ in length, or one of them names a dimension twice
Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination);
/// Repeats dimensions of size 1 to the sizes of `shape`, as a view.
///
/// The result has self's dtype. -1 keeps a size. New dimensions come first. The gradient is the sum
/// over the copies.
///
/// Throws: ShapeError - `shape` changes a size other than 1, or has fewer dimensions than self
Tensor expand(const Tensor& self, const Shape& shape);
/// Expands self to the shape of `other`, as a view.
///
/// The result has self's dtype. The gradient of self is the sum over the copies; `other` has no
/// gradient. The errors are expand's.
Tensor expand_as(const Tensor& self, const Tensor& other);
/// Expands self to `shape`, as a view: PyTorch's name for expand as a function.
///
/// The result has self's dtype. The gradient and the errors are expand's.
Tensor broadcast_to(const Tensor& self, const Shape& shape);
/// Gives the elements another shape without a copy.
///
/// The result has self's dtype. The elements keep their order. One size may be -1, which is
/// computed from the others. The gradient is the result's gradient in self's shape.
///
/// Throws: ShapeError - `shape` has another number of elements, or needs a copy
Tensor view(const Tensor& self, const Shape& shape);
/// Views self in the shape of `other`.
///
/// The result has self's dtype. The gradient of self is the result's gradient in self's shape;
/// `other` has no gradient. The errors are view's.
Tensor view_as(const Tensor& self, const Tensor& other);
/// Gives the elements another shape, as a view where possible and as a copy otherwise.
///
/// The result has self's dtype. The elements keep their order. One size may be -1, which is
/// computed from the others. The gradient is the result's gradient in self's shape.
///
/// Throws: ShapeError - `shape` has another number of elements
Tensor reshape(const Tensor& self, const Shape& shape);
/// Reshapes self to the shape of `other`.
///
/// The result has self's dtype. The gradient of self is the result's gradient in self's shape;
/// `other` has no gradient.
///
/// Throws: ShapeError - `other` has another number of elements
Tensor reshape_as(const Tensor& self, const Tensor& other);
/// Merges the dimensions from `start` to `end` into one, as reshape does.
///
/// The result has self's dtype. A 0-d tensor becomes one of shape (1). The gradient is the result's
/// gradient in self's shape.
///
/// Throws:
///   IndexError - a dimension is out of range
///   ShapeError - `start` comes after `end`
Tensor flatten(const Tensor& self, std::int64_t start = 0, std::int64_t end = -1);
/// Splits dimension `dim` into several of the given sizes, as a view.
///
/// The result has self's dtype. One size may be -1. The gradient is the result's gradient in self's
/// shape.
///
/// Throws:
///   IndexError - `dim` is out of range, or self is 0-d
///   ShapeError - the sizes do not multiply to the size of `dim`, or there are no sizes
Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes);
/// Removes all dimensions of size 1, as a view.
///
/// The result has self's dtype. The gradient is the result's gradient in self's shape.
Tensor squeeze(const Tensor& self);
/// Removes dimension `dim` if its size is 1, as a view.
///
/// The result has self's dtype. The gradient is the result's gradient in self's shape.
///
/// Throws: IndexError - `dim` is out of range
Tensor squeeze(const Tensor& self, std::int64_t dim);
/// Removes the dimensions in `dims` whose size is 1, as a view.
///
/// The result has self's dtype. The gradient is the result's gradient in self's shape.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor squeeze(const Tensor& self, const Shape& dims);
/// Inserts a dimension of size 1 at position `dim` of the result, as a view.
///
/// The result has self's dtype. The gradient is the result's gradient in self's shape.
///
/// Throws: IndexError - `dim` is out of range
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
/// Returns the elements at (i, i + offset) of two dimensions, as a view.
///
/// The result has self's dtype. It lacks these two dimensions, and has a new last dimension for i.
/// The gradient is the result's gradient on this diagonal, and zero elsewhere.
///
/// Throws:
///   IndexError - a dimension is out of range
///   ShapeError - both dimensions are the same
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim0 = 0,
                std::int64_t dim1 = 1);
/// Returns windows of `size` elements along `dim`, each `step` elements after the previous one, as
/// a view.
///
/// The result has self's dtype. Its dimension `dim` counts the windows. For n elements there are
/// (n - size) / step + 1 of them. A new last dimension has the elements of a window. Windows
/// overlap if step < size. The gradient of an element is the sum over the windows that contain it.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - no window fits, or the step is not positive
///
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.unfold.html
Tensor unfold(const Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step);
/// Adds the elements of every window of self to zeros of the given shape: the derivative of unfold.
///
/// self has the shape of unfold's result, and each window is added at its position. The result has
/// self's dtype. The gradient is unfold of the result's gradient.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - self does not have the shape of unfold's result, no window fits, or the step is
///                not positive
Tensor unfold_backward(const Tensor& self, const Shape& shape, std::int64_t dim, std::int64_t size,
                       std::int64_t step);

/// Returns self if it is row-major, and a row-major copy otherwise.
///
/// The result has self's shape and dtype. The gradient is the result's gradient.
Tensor contiguous(const Tensor& self);
/// Copies self, and records the copy in the graph.
///
/// The result has self's shape and dtype, and its dimensions have the same order in memory as
/// self's. The gradient is the result's gradient.
Tensor clone(const Tensor& self);
/// Returns self if it has the dtype, and a converted copy otherwise.
///
/// The result has self's shape. int64 truncates, and bool is true where self is not zero. The
/// gradient is the result's gradient in self's dtype. Copies of dtype int64 or bool have no
/// gradient.
Tensor to(const Tensor& self, DType dtype);

}  // namespace tend
