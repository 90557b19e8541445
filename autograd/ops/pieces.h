// Views that cut a tensor along a dimension into several.
#pragma once

#include <vector>

#include <tend/core/shape.h>

namespace tend {

class Tensor;

// `dim` may count from the end; out of range, and of a 0-d tensor: IndexError.

/// Pieces of `size` along `dim`; the last may be shorter. ShapeError for a size below 1, but for
/// that of an empty dimension, which may be 0.
std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim = 0);
/// Pieces of the given sizes, which must add up to the dimension (ShapeError).
std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim = 0);
/// At most `chunks` pieces of equal size; the last may be shorter. ShapeError for chunks < 1.
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
/// The slices along `dim`, without that dimension.
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);

}  // namespace tend
