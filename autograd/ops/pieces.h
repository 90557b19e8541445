/// \file
/// Functions that cut a tensor along a dimension into several views.
///
/// Each view shares the tensor's elements and has its dtype. The tensor's gradient joins the
/// gradients of the pieces, in order. More than 2^24 pieces throw an OutOfMemoryError.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <tend/core/array/shape.h>

namespace tend {

class Tensor;

/// Cuts self along `dim` into views of the given size.
///
/// The last view may be shorter. The size may be 0 if the dimension is empty. The views have self's
/// dtype. The gradient joins the gradients of the pieces, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 pieces
///   ShapeError       - the size is negative, or 0 for a dimension that is not empty
std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim = 0);
/// Cuts self along `dim` into views of the given sizes.
///
/// The views have self's dtype. The gradient joins the gradients of the pieces, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 pieces
///   ShapeError       - the sizes do not add up to the size of the dimension
std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim = 0);
/// Cuts self along `dim` into at most `chunks` views of equal size.
///
/// The last view may be shorter. An empty dimension gives `chunks` empty views. The views have
/// self's dtype. The gradient joins the gradients of the pieces, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 pieces
///   ShapeError       - `chunks` is less than 1
std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
/// Returns the slices along `dim`, without this dimension, as views.
///
/// The views have self's dtype. The gradient joins the gradients of the slices, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 slices
std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim = 0);

/// Cuts self along `dim` into `sections` views whose sizes differ by at most 1.
///
/// The larger views come first. The views have self's dtype. The gradient joins the gradients of
/// the pieces, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 sections
///   ShapeError       - `sections` is less than 1
std::vector<Tensor> tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim = 0);
/// Cuts self along `dim` before each of the given positions.
///
/// As in slices, positions may count from the end, and a position beyond the end is the end. The
/// views have self's dtype. The gradient joins the gradients of the pieces, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 pieces
std::vector<Tensor> tensor_split(const Tensor& self, const Shape& indices, std::int64_t dim = 0);
/// Cuts self along `dim` into a number of sections (0-d tensor) or before positions (1-d tensor).
///
/// The tensor is int64. The views have self's dtype. The gradient joins the gradients of the
/// pieces, in order.
///
/// Throws:
///   DTypeError       - `indices_or_sections` is not int64
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 pieces
///   ShapeError       - `indices_or_sections` has more than one dimension, or is a number less than
///                      1
std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& indices_or_sections,
                                 std::int64_t dim = 0);
/// Cuts self along `dim` before each of the positions in braces.
///
/// This overload makes {2} one position; without it, {2} would mean two sections. The views have
/// self's dtype. The gradient joins the gradients of the pieces, in order.
///
/// Throws:
///   IndexError       - `dim` is out of range, or self is 0-d
///   OutOfMemoryError - there are more than 2^24 pieces
std::vector<Tensor> tensor_split(const Tensor& self, std::initializer_list<std::int64_t> indices,
                                 std::int64_t dim = 0);

}  // namespace tend
