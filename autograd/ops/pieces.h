/// \file
/// Views that cut a tensor along a dimension into several. Each shares the tensor's elements and
/// has its dtype; the tensor's gradient has those of the pieces in their places.
#pragma once

#include <vector>

#include <tend/core/array/shape.h>

namespace tend {

class Tensor;

/// Views of `size` along `dim`; the last may be shorter. ShapeError for a size below 1, but for
/// that of an empty dimension, which may be 0; IndexError for a dimension out of range, and for a
/// 0-d tensor. The gradient has those of the pieces in their places.
std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim = 0);
/// Views of the given sizes along `dim`, which add up to the dimension's (ShapeError); IndexError
/// for a dimension out of range, and for a 0-d tensor. The gradient has those of the pieces in
/// their places.
std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim = 0);
/// At most `chunks` views of equal size along `dim`; the last may be shorter, and an empty
/// dimension gives `chunks` empty ones (OutOfMemoryError over 2^24). ShapeError for chunks < 1;
/// IndexError for a dimension out
/// of range, and for a 0-d tensor. The gradient has those of the pieces in their places.
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
/// Views of the slices along `dim`, without that dimension; IndexError for one out of range, and
/// for a 0-d tensor. The gradient has those of the slices in their places.
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);

}  // namespace tend
