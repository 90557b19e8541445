/// \file
/// Functions that cut a tensor along a dimension into several views. Each view shares the tensor's
/// elements and has its dtype; the tensor's gradient is made of those of the pieces, in order.
/// OutOfMemoryError for more than 2^24 pieces.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <tend/core/array/shape.h>

namespace tend {

class Tensor;

/// Views of `size` along `dim`; the last may be shorter. ShapeError for a size below 1, except that
/// it may be 0 for an empty dimension; IndexError for a dimension out of range, and for a 0-d
/// tensor. The gradient is made of those of the pieces, in order.
std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim = 0);
/// Views of the given sizes along `dim`, which add up to the dimension's (ShapeError); IndexError
/// for a dimension out of range, and for a 0-d tensor. The gradient is made of those of the pieces,
/// in order.
std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim = 0);
/// At most `chunks` views of equal size along `dim`; the last may be shorter, and an empty
/// dimension gives `chunks` empty ones (OutOfMemoryError for more than 2^24). ShapeError for chunks
/// < 1; IndexError for a dimension out of range, and for a 0-d tensor. The gradient is made of
/// those of the pieces, in order.
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
/// Views of the slices along `dim`, without that dimension; IndexError for one out of range, and
/// for a 0-d tensor. The gradient is made of those of the slices, in order.
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);

/// `sections` views along `dim` whose sizes differ by at most 1, the larger ones first. ShapeError
/// for sections < 1; IndexError for a dimension out of range, and for a 0-d tensor. The gradient is
/// made of those of the pieces, in order.
std::vector<Tensor> tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim = 0);
/// Views along `dim` that are cut before the given positions, as slices are: they may count from
/// the end, and a position beyond it counts as the end. IndexError for a dimension out of range,
/// and for a 0-d tensor. The gradient is that of the slices.
std::vector<Tensor> tensor_split(const Tensor& self, const Shape& indices, std::int64_t dim = 0);
/// The same for a 0-d int64 tensor, which is a number of sections, or a 1-d one of positions
/// (DTypeError, ShapeError). The gradient is that of the slices.
std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& indices_or_sections,
                                 std::int64_t dim = 0);
/// The same for positions in braces, of which one alone would be taken for a number of sections.
/// The gradient is that of the slices.
std::vector<Tensor> tensor_split(const Tensor& self, std::initializer_list<std::int64_t> indices,
                                 std::int64_t dim = 0);

}  // namespace tend
