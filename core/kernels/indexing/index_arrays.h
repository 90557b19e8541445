// Indexing several dimensions of an array at once.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/memory/scratch.h>

namespace tend::kernels {

/// Turns a 0-d array into a 1-d array. Indexing treats both indices and indexed arrays this way.
inline Array at_least_1d(const Array& a) {
  return a.rank() == 0 ? a.unsqueeze(0) : a;
}

/// Index arrays for some dimensions of an array, as in a[:, i, j].
struct IndexArrays {
  Shape dims;                // the indexed dimensions, ascending
  Scratch<Array> positions;  // one int64 array for each of dims, with elements in [0, size)
  Shape shape;               // the shape to which the positions broadcast
  Array mask = {};           // if defined, it replaces `positions`: a row-major bool array that
  // covers all dimensions of the indexed array, and is true at the indexed elements

  /// The dimension of result_shape at which `shape` begins: dims[0] if the dims are neighbours,
  /// else 0.
  std::int64_t front() const;
  /// The shape of the indexed elements of an array of shape `whole`: `shape` replaces the dims.
  Shape result_shape(Shape whole) const;
};

}  // namespace tend::kernels
