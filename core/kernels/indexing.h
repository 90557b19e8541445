// Reading and adding at places given by int64 arrays (DTypeError for other index dtypes). Every
// index is checked before anything is written: IndexError with the index, the dimension and the
// shape. `dim` is wrapped. `out` does not overlap the inputs.
#pragma once

#include <string_view>

#include <tend/core/array.h>

namespace tend::kernels {

/// out[i][j][k] = a[i][index[i][j][k]][k] for dim 1; `index` has out's shape and is at most as
/// large as `a` in the other dimensions (ShapeError). Negative indices are refused, as in PyTorch.
void gather(const Array& out, const Array& a, std::int64_t dim, const Array& index);

/// out[i][index[i][j][k]][k] += src[i][j][k] for dim 1, in the order of j. `index` is at most as
/// large as `src`, and as `out` in the other dimensions (ShapeError); src has out's dtype.
void scatter_add(const Array& out, std::int64_t dim, const Array& index, const Array& src);

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

}  // namespace tend::kernels
