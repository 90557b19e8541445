/// \file
/// Copies of elements in another order, repeated, or with others around them. Any dtype, which the
/// result has. Dimensions may count from the end; IndexError for one out of range.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/ops/reduce.h>
#include <tend/core/array/array.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// self read backwards along `dims`, none of which is named twice (ShapeError) or out of range
/// (IndexError); along none it is a copy. The gradient is the result's, flipped back.
Tensor flip(const Tensor& self, const Shape& dims);

/// Moves elements by `shift` positions along `dim` (IndexError, also for a 0-d tensor); those that
/// leave at one end come in at the other. Without a dimension, the flattened tensor is rolled. The
/// gradient is the result's, rolled back.
Tensor roll(const Tensor& self, std::int64_t shift, std::optional<Integer> dim = std::nullopt);
/// self rolled by shifts[i] along dims[i] (IndexError), one after the other; ShapeError unless both
/// lists have the same length, at least 1. The gradient is the result's, rolled back.
Tensor roll(const Tensor& self, const Shape& shifts, const Shape& dims);

/// repeats[d] copies along dimension d. If `repeats` is longer than self's shape, new dimensions
/// come first; ShapeError if it is shorter, or has a negative number. The gradient is the sum over
/// the copies.
Tensor repeat(const Tensor& self, const Shape& repeats);
/// As repeat, but the list may be shorter than self's shape: the first dimensions are not repeated
/// then. ShapeError for a negative number. The gradient is the sum over the copies.
Tensor tile(const Tensor& self, const Shape& repeats);

/// Every element `repeats` times (ShapeError when negative), along `dim` (IndexError) or, without
/// one, in the flattened tensor. The gradient is the sum over the copies.
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats,
                         std::optional<Integer> dim = std::nullopt);
/// The i-th slice along `dim` repeats[i] times. `repeats` is int64 (DTypeError), not negative, and
/// has the dimension's size or one element (ShapeError); IndexError for `dim`. The gradient of self
/// is the sum over the copies.
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                         std::optional<Integer> dim = std::nullopt);
/// The index i, repeats[i] times, for every i: an int64 index tensor. `repeats` is int64
/// (DTypeError), 1-d and not negative (ShapeError). No gradient.
Tensor repeat_interleave(const Tensor& repeats);

/// Which elements padding adds: a number; the elements mirrored at the last one; the last one
/// again; or those from the other end.
enum class PadMode { constant, reflect, replicate, circular };
template <>
inline constexpr std::string_view detail::kWords<PadMode> =
    "mode: constant reflect replicate circular";

/// self with padding[0] elements added before and padding[1] after the last dimension, padding[2]
/// and padding[3] around the one before it, and so on; negative numbers cut elements off. `value`
/// is for constant padding only (Error; DTypeError where the dtype cannot hold it). The other modes
/// take what PyTorch's do: 1, 2 or 3 last dimensions of a tensor that has one or two dimensions
/// more, of which only the batch may be empty (circular: any but those that are padded); reflect
/// pads less than the dimension's size, circular at most as much; reflect and replicate may not cut
/// off all of every padded dimension (ShapeError, also for a list that does not fit). The gradient
/// of an element is the sum over its copies.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.pad.html
Tensor pad(const Tensor& self, const Shape& padding, OrWord<PadMode> mode = PadMode::constant,
           const std::optional<Scalar>& value = 0);

}  // namespace tend
