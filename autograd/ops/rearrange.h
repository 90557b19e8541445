/// \file
/// Copies of elements in another order, repeated, or with others around them. Any dtype, which
/// the result has; dimensions may count from the end, out of range they are an IndexError.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/ops/reduce.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// self read backwards along `dims`, none of which is named twice (ShapeError) or out of range
/// (IndexError); along none it is a copy. The gradient is the result's, flipped back.
Tensor flip(const Tensor& self, const Dims& dims);

/// Elements move by `shift` places along `dim` (IndexError, for a 0-d tensor too); what leaves at
/// one end comes in at the other. Without a dimension the tensor is rolled as one row of elements.
/// The gradient is the result's, rolled back.
Tensor roll(const Tensor& self, std::int64_t shift, std::optional<Integer> dim = std::nullopt);
/// self rolled by shifts[i] along dims[i] (IndexError), one after the other; ShapeError unless
/// there are as many of both, and one at least. The gradient is the result's, rolled back.
Tensor roll(const Tensor& self, const Shape& shifts, const Shape& dims);

/// repeats[d] copies along dimension d; what `repeats` has more than self are new dimensions in
/// front. ShapeError for fewer of them, or a negative one. The gradient is the sum over the copies.
Tensor repeat(const Tensor& self, const Shape& repeats);
/// As repeat, where the list may be shorter than self's: 1 for the dimensions in front. ShapeError
/// for a negative one. The gradient is the sum over the copies.
Tensor tile(const Tensor& self, const Shape& repeats);

/// Every element `repeats` times (ShapeError when negative), along `dim` (IndexError) or, without
/// one, in a row of all elements. The gradient is the sum over the copies.
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats,
                         std::optional<Integer> dim = std::nullopt);
/// The i-th slice along `dim` repeats[i] times. `repeats` is int64 (DTypeError), not negative, and
/// has the dimension's size or one element (ShapeError); IndexError for `dim`. The gradient of self
/// is the sum over the copies.
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats,
                         std::optional<Integer> dim = std::nullopt);
/// i repeats[i] times, for every i: an int64 index that repeats. `repeats` is int64 (DTypeError),
/// 1-d and not negative (ShapeError). No gradient.
Tensor repeat_interleave(const Tensor& repeats);

/// What stands in the places that padding adds: a number; the elements mirrored at the last one;
/// the last one again; or those from the other end.
enum class PadMode { constant, reflect, replicate, circular };

/// self with padding[0] places more before and padding[1] after the last dimension, padding[2] and
/// padding[3] around the one before it, and so on; negative ones cut off. `value` is for constant
/// padding only (Error; DTypeError where the dtype cannot hold it). The other modes take what
/// PyTorch's do: 1, 2 or 3 last dimensions of a tensor that has one or two dimensions more, of
/// which only the batch may be empty (circular: any but those that are padded); reflect pads less
/// than the dimension's size, circular at most as much (ShapeError, for a list that does not fit
/// too). The gradient of an element is the sum over the places that it went to.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.pad.html
Tensor pad(const Tensor& self, const Shape& padding, PadMode mode = PadMode::constant,
           const Scalar& value = 0);

}  // namespace tend
