// Views: results that share their input's elements, and the reshapes that copy only when they must.
#pragma once

#include <optional>

#include <tend/core/array.h>

namespace tend {

class Tensor;

// Dimensions may count from the end. Out of range: IndexError. See
// https://pytorch.org/docs/stable/tensor_view.html.

/// self[index] along `dim`, without that dimension.
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
/// Python's start:stop:step along `dim`, step > 0.
Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step = 1);
/// `length` elements from `start` on; IndexError where they leave the dimension.
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// The two dimensions in each other's place.
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// NumPy's name of transpose.
Tensor swapaxes(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Swaps the dimensions of a matrix; fewer stay as they are, more are a ShapeError.
Tensor t(const Tensor& self);
/// Dimension d of the result is dims[d] of self; `dims` names every dimension once (ShapeError).
Tensor permute(const Tensor& self, const Shape& dims);
/// Dimension `source` at position `destination`, the others in their order.
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination);
/// Dimensions source[i] at positions destination[i]; ShapeError for lists of two lengths, or that
/// name a dimension twice.
Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination);
/// Repeats dimensions of size 1 without a copy; -1 keeps a size.
Tensor expand(const Tensor& self, const Shape& shape);
/// self expanded to the shape of `other`.
Tensor expand_as(const Tensor& self, const Tensor& other);
/// torch's name of expand as a function.
Tensor broadcast_to(const Tensor& self, const Shape& shape);
/// Another shape on the same elements; one size may be -1. ShapeError where only a copy could give
/// it.
Tensor view(const Tensor& self, const Shape& shape);
/// self viewed in the shape of `other`.
Tensor view_as(const Tensor& self, const Tensor& other);
/// As view, with a copy where one is needed.
Tensor reshape(const Tensor& self, const Shape& shape);
/// self in the shape of `other`.
Tensor reshape_as(const Tensor& self, const Tensor& other);
/// Dimensions start to end as one.
Tensor flatten(const Tensor& self, std::int64_t start = 0, std::int64_t end = -1);
/// Dimension `dim` as several of the given sizes, of which one may be -1; ShapeError where they do
/// not multiply to it.
Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes);
/// Without the dimensions of size 1.
Tensor squeeze(const Tensor& self);
/// Without `dim` if its size is 1.
Tensor squeeze(const Tensor& self, std::int64_t dim);
/// Without those of `dims` whose size is 1; ShapeError where one is named twice.
Tensor squeeze(const Tensor& self, const Shape& dims);
/// A new dimension of size 1 before `dim`.
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
/// The elements (i, i + offset) of two dimensions, as a last dimension.
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim0 = 0,
                std::int64_t dim1 = 1);
/// Windows of `size` elements along `dim`, each `step` after the one before: dimension `dim` counts
/// the windows, (n - size) / step + 1 of them, and a new last dimension has their elements. Windows
/// overlap where step < size; the gradient adds up what they share. ShapeError where no window fits
/// or the step is not positive.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.unfold.html
Tensor unfold(const Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step);
/// The derivative of unfold: zeros of `shape` with the elements of every window of `self` added at
/// their places. ShapeError unless self has the shape of the windows.
Tensor unfold_backward(const Tensor& self, const Shape& shape, std::int64_t dim, std::int64_t size,
                       std::int64_t step);

/// self when row-major, otherwise a row-major copy.
Tensor contiguous(const Tensor& self);
/// A row-major copy, with history.
Tensor clone(const Tensor& self);
/// self when it has the dtype, otherwise a converted copy.
Tensor to(const Tensor& self, DType dtype);

}  // namespace tend
