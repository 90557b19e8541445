/// \file
/// Copies with elements reordered, repeated or padded. Any dtype is allowed, and the result has
/// self's dtype. Dimensions may count from the end.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/ops/reduce.h>
#include <tend/core/array/array.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// Reverses the order of the elements along `dims`.
///
/// The result has self's shape and dtype. With no dimensions it is a copy. The gradient is the
/// result's gradient, flipped back.
///
/// Throws:
///   IndexError - one of `dims` is out of range
///   ShapeError - a dimension appears twice
Tensor flip(const Tensor& self, const Shape& dims);

/// Moves the elements by `shift` positions along `dim`.
///
/// Elements that leave at one end come in at the other end. Without a dimension, the flattened
/// tensor is rolled. The result has self's shape and dtype. The gradient is the result's gradient,
/// rolled back.
///
/// Throws: IndexError - `dim` is out of range, or is given for a 0-d tensor
Tensor roll(const Tensor& self, std::int64_t shift, std::optional<Integer> dim = std::nullopt);
/// Rolls self by shifts[i] along dims[i], for each i in order.
///
/// The result has self's shape and dtype. The gradient is the result's gradient, rolled back.
///
/// Throws:
///   IndexError - one of `dims` is out of range, or self is 0-d
///   ShapeError - `shifts` and `dims` differ in length, or are empty
Tensor roll(const Tensor& self, const Shape& shifts, const Shape& dims);

/// Repeats self repeats[d] times along each dimension d.
///
/// If `repeats` is longer than self's shape, the new dimensions come first. The result has self's
/// dtype. The gradient is the sum over the copies.
///
/// Throws: ShapeError - `repeats` is shorter than self's shape, or one of its numbers is negative
Tensor repeat(const Tensor& self, const Shape& repeats);
/// Repeats self along its last dimensions, repeats[d] times each.
///
/// It is repeat, except that `repeats` may be shorter than self's shape. The first dimensions are
/// not repeated then. The gradient is the sum over the copies.
///
/// Throws: ShapeError - one of `repeats` is negative
Tensor tile(const Tensor& self, const Shape& repeats);

/// Repeats every element `repeats` times along `dim`, with its copies next to each other.
///
/// Without a dimension, the flattened tensor is repeated. The result has self's dtype. The gradient
/// is the sum over the copies.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - `repeats` is negative
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats,
                         std::optional<Integer> dim = std::nullopt);
/// Repeats the i-th slice along `dim` repeats[i] times.
///
/// `repeats` is int64. It has the size of the dimension or one element. Without a dimension, the
/// flattened tensor is repeated. The result has self's dtype. The gradient of self is the sum over
/// the copies.
///
/// Throws:
///   DTypeError - `repeats` is not int64
///   IndexError - `dim` is out of range
///   ShapeError - `repeats` has another size, or one of its elements is negative
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                         std::optional<Integer> dim = std::nullopt);
/// Returns each index i repeats[i] times, as an index tensor.
///
/// `repeats` is 1-d and int64, and so is the result. No gradient.
///
/// Throws:
///   DTypeError - `repeats` is not int64
///   ShapeError - `repeats` is not 1-d, or one of its elements is negative
Tensor repeat_interleave(const Tensor& repeats);

/// The elements that pad adds.
///
/// constant: a number. reflect: the elements mirrored at the outermost one, which is not repeated.
/// replicate: the outermost element again. circular: the elements from the other end.
enum class PadMode { constant, reflect, replicate, circular };
template <>
inline constexpr std::string_view detail::kWords<PadMode> =
    "mode: constant reflect replicate circular";

/// Adds elements before and after the last dimensions, or cuts them off.
///
/// padding[0] elements are added before the last dimension and padding[1] after it. padding[2] and
/// padding[3] are for the dimension before it, and so on. Negative numbers cut elements off. The
/// result has self's dtype. `value` is for constant padding only.
///
/// The other modes have PyTorch's limits:
///
/// - They pad the last 1, 2 or 3 dimensions of a tensor that has one or two dimensions more.
/// - With reflect and replicate, only the batch may be empty. With circular, any dimension that is
///   not padded may be empty.
/// - reflect pads by less than the size of the dimension, and circular by at most the size.
/// - reflect and replicate may not cut off all elements of every padded dimension.
///
/// The gradient of an element is the sum over its copies.
///
/// Throws:
///   DTypeError - the dtype cannot hold `value`
///   Error      - a mode other than constant gets a `value` that is not 0
///   ShapeError - `padding` does not fit self's shape, or breaks a limit of its mode
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.pad.html
Tensor pad(const Tensor& self, const Shape& padding, OrWord<PadMode> mode = PadMode::constant,
           const std::optional<Scalar>& value = 0);

}  // namespace tend
