// Reading, writing and adding at indices given by int64 arrays (DTypeError for other index dtypes).
// Unless stated, an index that is out of range is an IndexError with the index, the dimension and
// the shape, and leaves `out` undefined. `dim` is wrapped. `out` does not overlap the inputs.
#pragma once

#include <optional>
#include <string_view>

#include <tend/core/array/array.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/kernels/indexing/lines.h>

namespace tend::kernels {

/// out[i][j][k] = a[i][index[i][j][k]][k] for dim 1; `index` has out's shape and is at most as
/// large as `a` in the other dimensions (ShapeError). Negative indices are refused, as in PyTorch.
void gather(const Array& out, const Array& a, std::int64_t dim, const Array& index);

/// out[i][index[i][j][k]][k] += src[i][j][k] for dim 1, in the order of j. `index` is at most as
/// large as `src`, and as `out` in the other dimensions (ShapeError); src has out's dtype.
void scatter_add(const Array& out, std::int64_t dim, const Array& index, const Array& src);

/// As scatter_add, but the elements are replaced: of several writes to one element the last stays.
void scatter(const Array& out, std::int64_t dim, const Array& index, const Array& src);

/// As scatter_add, but `how` says what becomes of an element. Errors name `operation`.
void scatter_reduce(const char* operation, Write how, const Array& out, std::int64_t dim,
                    const Array& index, const Array& src);

/// out = the slices of `a` along `dim` that the 0-d or 1-d `index` names, one after the other.
/// Errors name `operation`.
void index_select(const Array& out, const Array& a, std::int64_t dim, const Array& index,
                  std::string_view operation = "index_select");

/// Adds the slices of `src` along `dim` to those of `out` that the 0-d or 1-d `index` names, in
/// order; src has out's dtype.
void index_add(const Array& out, std::int64_t dim, const Array& index, const Array& src);

/// out[..., c] = (index[...] == c), 0 or 1 in out's dtype; IndexError unless every index is in
/// [0, out.size(-1)).
void one_hot(const Array& out, const Array& index);

/// out = index with its negative elements counted from the end of a dimension of `size`. Where an
/// element is outside of [-size, size), the first such is returned.
std::optional<std::int64_t> wrap_positions(const Array& out, const Array& index, std::int64_t size);

/// out = the elements of `a` that `arrays` index; out is row-major, of shape
/// arrays.result_shape(a.shape()) and a's dtype. Positions are not checked.
void take_indexed(const Array& out, const Array& a, const IndexArrays& arrays);
/// Replaces the elements of `out` that `arrays` index by those of `src`, one after the other, or
/// adds those to them (`accumulate`). `src` broadcasts to arrays.result_shape(out.shape()) and has
/// out's dtype. Positions are not checked.
void put_indexed(const Array& out, const IndexArrays& arrays, const Array& src, bool accumulate);

}  // namespace tend::kernels
