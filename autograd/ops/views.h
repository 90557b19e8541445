// Views: results that share their input's elements, and the reshapes that copy only when they must.
#pragma once

#include <optional>
#include <vector>

#include <tend/autograd/indexing.h>
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
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
/// Swaps the dimensions of a matrix; fewer stay as they are, more are a ShapeError.
Tensor t(const Tensor& self);
Tensor permute(const Tensor& self, const Shape& dims);
/// Repeats dimensions of size 1 without a copy; -1 keeps a size.
Tensor expand(const Tensor& self, const Shape& shape);
/// Another shape on the same elements; one size may be -1. ShapeError where only a copy could give
/// it.
Tensor view(const Tensor& self, const Shape& shape);
/// As view, with a copy where one is needed.
Tensor reshape(const Tensor& self, const Shape& shape);
/// Dimensions start to end as one.
Tensor flatten(const Tensor& self, std::int64_t start = 0, std::int64_t end = -1);
/// Without the dimensions of size 1, or without `dim` if its size is 1.
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, std::int64_t dim);
/// A new dimension of size 1 before `dim`.
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
/// The elements (i, i + offset) of two dimensions, as a last dimension.
Tensor diagonal(const Tensor& self, std::int64_t offset = 0, std::int64_t dim0 = 0,
                std::int64_t dim1 = 1);
/// Pieces of `size` along `dim`; the last may be shorter.
std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim = 0);
/// Pieces of the given sizes, which must add up to the dimension (ShapeError).
std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim = 0);
/// At most `chunks` pieces of equal size; the last may be shorter.
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
/// The slices along `dim`, without that dimension.
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);
/// self[indices]: what x[{...}] calls.
Tensor index(const Tensor& self, Indices indices);

/// self when row-major, otherwise a row-major copy.
Tensor contiguous(const Tensor& self);
/// A row-major copy, with history.
Tensor clone(const Tensor& self);
/// self when it has the dtype, otherwise a converted copy.
Tensor to(const Tensor& self, DType dtype);

}  // namespace tend
