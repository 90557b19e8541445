/// \file
/// Views: results that share their input's elements, and the reshapes that copy only when they
/// must. Any dtype. Dimensions may count from the end; IndexError for one out of range. See
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
/// Python's start:stop:step along `dim`: a view; a bound that is left out, or lies outside, is that
/// end of the dimension. IndexError for a step below 1 and for `dim`. The gradient is the result's
/// at the chosen elements, zeros elsewhere.
Tensor slice(const Tensor& self, std::int64_t dim = 0, std::optional<Integer> start = std::nullopt,
             std::optional<Integer> stop = std::nullopt, std::int64_t step = 1);
/// `length` elements along `dim` from `start` on, which may count from the end: a view. IndexError
/// where they leave the dimension, and for `dim`. The gradient is the result's at these elements,
/// zeros elsewhere.
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);
/// Swaps two dimensions: a view. IndexError for one out of range. The gradient is the result's,
/// transposed back.
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// NumPy's name for transpose, with its errors and gradient.
Tensor swapaxes(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Swaps the dimensions of a matrix: a view. Tensors of fewer dimensions stay as they are;
/// ShapeError for more. The gradient is the result's, transposed back.
Tensor t(const Tensor& self);
/// Dimension d of the result is dims[d] of self: a view. `dims` names every dimension once
/// (ShapeError), and none out of range (IndexError). The gradient is the result's, permuted back.
Tensor permute(const Tensor& self, const Shape& dims);
/// Moves dimension `source` to position `destination`; the others keep their order: a view.
/// IndexError for one out of range. The gradient is the result's, moved back.
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination);
/// Moves dimensions source[i] to positions destination[i]; the others keep their order: a view.
/// ShapeError if the lists differ in length or name a dimension twice, IndexError for one out of
/// range. The gradient is the result's, moved back.
Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination);
/// Dimensions of size 1 repeated to `shape`, without a copy: a view. -1 keeps a size; new
/// dimensions come first. ShapeError for any other size that differs, or too few dimensions. The
/// gradient is the sum over the copies.
Tensor expand(const Tensor& self, const Shape& shape);
/// self expanded to the shape of `other`: a view. ShapeError as for expand. The gradient is the sum
/// over the copies; `other` gets none.
Tensor expand_as(const Tensor& self, const Tensor& other);
/// PyTorch's name for expand as a function, with its errors and gradient.
Tensor broadcast_to(const Tensor& self, const Shape& shape);
/// Another shape on the same elements, which keep their order; one size may be -1, which follows
/// from the others. ShapeError for another number of elements, and where only a copy could have
/// that shape. The gradient is the result's in self's shape.
Tensor view(const Tensor& self, const Shape& shape);
/// self viewed in the shape of `other`. ShapeError as for view. The gradient is the result's in
/// self's shape; `other` gets none.
Tensor view_as(const Tensor& self, const Tensor& other);
/// As view, with a copy where one is needed; one size may be -1. ShapeError for another number of
/// elements. The gradient is the result's in self's shape.
Tensor reshape(const Tensor& self, const Shape& shape);
/// self reshaped to the shape of `other`. ShapeError for another number of elements. The gradient
/// is the result's in self's shape; `other` gets none.
Tensor reshape_as(const Tensor& self, const Tensor& other);
/// Dimensions start to end merged into one, as reshape does it; a 0-d tensor becomes (1).
/// IndexError for one out of range, ShapeError where start comes after end. The gradient is the
/// result's in self's shape.
Tensor flatten(const Tensor& self, std::int64_t start = 0, std::int64_t end = -1);
/// Dimension `dim` split into several of the given sizes, of which one may be -1: a view.
/// ShapeError if they do not multiply to its size, or there are none; IndexError for `dim`, and for
/// a 0-d tensor. The gradient is the result's in self's shape.
Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes);
/// self without its dimensions of size 1: a view. The gradient is the result's in self's shape.
Tensor squeeze(const Tensor& self);
/// self without `dim` (IndexError) if its size is 1: a view. The gradient is the result's in self's
/// shape.
Tensor squeeze(const Tensor& self, std::int64_t dim);
/// self without those of `dims` (IndexError) whose size is 1: a view. ShapeError where one is named
/// twice. The gradient is the result's in self's shape.
Tensor squeeze(const Tensor& self, const Shape& dims);
/// A new dimension of size 1 at `dim` of the result (IndexError): a view. The gradient is the
/// result's in self's shape.
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
/// The elements (i, i + offset) of two dimensions, as a last dimension: a view. IndexError for a
/// dimension out of range, ShapeError if both are the same. The gradient is the result's on that
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
/// their positions. ShapeError unless self has the shape that unfold gives; otherwise the errors of
/// unfold. The gradient is unfold of the result's.
Tensor unfold_backward(const Tensor& self, const Shape& shape, std::int64_t dim, std::int64_t size,
                       std::int64_t step);

/// self itself when row-major, otherwise a row-major copy. The gradient is the result's.
Tensor contiguous(const Tensor& self);
/// A copy, with history, whose dimensions lie in memory in the order of self's. The gradient is the
/// result's.
Tensor clone(const Tensor& self);
/// self itself when it has the dtype, otherwise a converted copy: int64 truncates, bool is "not
/// zero". The gradient is the result's, in self's dtype; int64 and bool copies have none.
Tensor to(const Tensor& self, DType dtype);

}  // namespace tend
