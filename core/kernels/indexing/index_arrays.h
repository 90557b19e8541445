// What indices of several dimensions name.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/memory/scratch.h>

namespace tend::kernels {

/// A 0-d array as 1-d: indices and what they index count as that.
inline Array at_least_1d(const Array& a) {
  return a.rank() == 0 ? a.unsqueeze(0) : a;
}

/// Elements of an array, named by their positions in some of its dimensions.
struct IndexArrays {
  Shape dims;                // ascending
  Scratch<Array> positions;  // for each of them int64, in [0, size); they broadcast together
  Shape shape;               // to this shape

  /// Which dimension `shape` begins at in result_shape: where neighbouring dims were, else in
  /// front.
  std::int64_t front() const;
  /// The shape of the elements at these places in an array of shape `whole`, where `shape` stands
  /// in the place of the dims.
  Shape result_shape(Shape whole) const;
};

}  // namespace tend::kernels
