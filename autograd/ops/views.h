/// \file
/// Views: results that share their input's elements, and the reshapes that copy only when they
/// must. Any dtype; dimensions may count from the end, out of range they are an IndexError. See
/// https://pytorch.org/docs/2.6/tensor_view.html.
#pragma once

#include <optional>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// self[index] along `dim`, without that dimension: a view. The index may count from the end;
/// IndexError where it, or `dim`, is out of range. The gradient is the result's at that index,
/// zeros elsewhere.
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
/// Python's start:stop:step along `dim`: a view; what is left out reaches to the end, and what lies
/// outside is cut off. IndexError for a step below 1 and for `dim`. The gradient is the result's in
/// its places, zeros elsewhere.
Tensor slice(const Tensor& self, std::int64_t dim, std::optional<Integer> start,
             std::optional<Integer> stop, std::int64_t step = 1);
/// `length` elements along `dim` from `start` on, which may count from the end: a view. IndexError
/// where they leave the dimension, and for `dim`. The gradient is the result's in its places, zeros
/// elsewhere.
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// The two dimensions in each other's place: a view. IndexError for one out of range. The gradient
/// is the result's, transposed back.
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// NumPy's name of transpose, whose errors and gradient it has.
Tensor swapaxes(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Swaps the dimensions of a matrix: a view; fewer stay as they are, more are a ShapeError. The
/// gradient is the result's, transposed back.
Tensor t(const Tensor& self);
/// Dimension d of the result is dims[d] of self: a view. `dims` names every dimension once
/// (ShapeError), and none out of range (IndexError). The gradient is the result's, permuted back.
Tensor permute(const Tensor& self, const Shape& dims);
/// Dimension `source` at position `destination`, the others in their order: a view. IndexError for
/// one out of range. The gradient is the result's, moved back.
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination);
/// Dimensions source[i] at positions destination[i], the others in their order: a view. ShapeError
/// for lists of two lengths, or that name a dimension twice, IndexError for one out of range. The
/// gradient is the result's, moved back.
Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination);
/// Dimensions of size 1 repeated to `shape`, without a copy: a view. -1 keeps a size; new
/// dimensions stand in front. ShapeError for another size that differs, or too few dimensions. The
/// gradient is the sum over the copies.
Tensor expand(const Tensor& self, const Shape& shape);
/// self expanded to the shape of `other`: a view. ShapeError where expand has one. The gradient is
/// the sum over the copies; `other` gets none.
Tensor expand_as(const Tensor& self, const Tensor& other);
/// torch's name of expand as a function, whose errors and gradient it has.
Tensor broadcast_to(const Tensor& self, const Shape& shape);
/// Another shape on the same elements, which keep their order; one size may be -1, which follows
/// from the others. ShapeError for another number of elements, and where only a copy could give it.
/// The gradient is the result's in self's shape.
Tensor view(const Tensor& self, const Shape& shape);
/// self viewed in the shape of `other`. ShapeError where view has one. The gradient is the result's
/// in self's shape; `other` gets none.
Tensor view_as(const Tensor& self, const Tensor& other);
/// As view, with a copy where one is needed; one size may be -1. ShapeError for another number of
/// elements. The gradient is the result's in self's shape.
Tensor reshape(const Tensor& self, const Shape& shape);
/// self reshaped to the shape of `other`. ShapeError for another number of elements. The gradient
/// is the result's in self's shape; `other` gets none.
Tensor reshape_as(const Tensor& self, const Tensor& other);
/// Dimensions start to end as one, a 0-d tensor as (1): a reshape. IndexError for one out of range,
/// ShapeError where start comes after end. The gradient is the result's in self's shape.
Tensor flatten(const Tensor& self, std::int64_t start = 0, std::int64_t end = -1);
/// Dimension `dim` as several of the given sizes, of which one may be -1: a view. ShapeError where
/// they do not multiply to it, or there are none; IndexError for `dim`, and for a 0-d tensor. The
/// gradient is the result's in self's shape.
Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes);
/// Without the dimensions of size 1: a view. The gradient is the result's in self's shape.
Tensor squeeze(const Tensor& self);
/// Without `dim` (IndexError) if its size is 1: a view. The gradient is the result's in self's
/// shape.
Tensor squeeze(const Tensor& self, std::int64_t dim);
/// Without those of `dims` (IndexError) whose size is 1: a view. ShapeError where one is named
/// twice. The gradient is the result's in self's shape.
Tensor squeeze(const Tensor& self, const Shape& dims);
/// A new dimension of size 1 at `dim` of the result (IndexError): a view. The gradient is the
/// result's in self's shape.
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
/// The elements (i, i + offset) of two dimensions, as a last dimension: a view. IndexError for a
/// dimension out of range, ShapeError where both are one. The gradient has the result's in that
/// diagonal, zeros elsewhere.
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim0 = 0,
                std::int64_t dim1 = 1);
/// Windows of `size` elements along `dim`, each `step` after the one before: a view. Dimension
/// `dim` counts the windows, (n - size) / step + 1 of them, and a new last dimension has their
/// elements. ShapeError where no window fits or the step is not positive; IndexError for `dim`.
/// Windows overlap where step < size: the gradient of an element is the sum over the windows that
/// it is in. https://pytorch.org/docs/2.6/generated/torch.Tensor.unfold.html
Tensor unfold(const Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step);
/// The derivative of unfold: zeros of `shape` with the elements of every window of `self` added at
/// their places. ShapeError unless self has the shape of the windows, and as unfold. The gradient
/// is unfold of the result's.
Tensor unfold_backward(const Tensor& self, const Shape& shape, std::int64_t dim, std::int64_t size,
                       std::int64_t step);

/// self itself when row-major, otherwise a row-major copy. The gradient is the result's.
Tensor contiguous(const Tensor& self);
/// A row-major copy, with history. The gradient is the result's.
Tensor clone(const Tensor& self);
/// self itself when it has the dtype, otherwise a converted copy: integers are cut off, bool is
/// "not zero". The gradient is the result's, in self's dtype; int64 and bool copies have none.
Tensor to(const Tensor& self, DType dtype);

}  // namespace tend
