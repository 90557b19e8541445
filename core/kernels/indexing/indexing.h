// Reading, writing and adding at the positions that int64 index arrays name. `dim` must be in
// [0, rank). `out` does not overlap the inputs. All functions with an index throw these errors,
// unless stated otherwise:
//   DTypeError - the index is not int64
//   IndexError - an index is out of range; the message names the index, the dimension and the
//                shape, and the elements of `out` are then unspecified
#pragma once

#include <optional>
#include <string_view>

#include <tend/core/array/array.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/kernels/indexing/lines.h>

namespace tend::kernels {

/// out[i][j][k] = a[i][index[i][j][k]][k] for dim 1.
///
/// `index` has out's shape. It is at most as large as `a` in the dimensions other than `dim`.
/// Negative indices are refused, as in PyTorch.
///
/// Throws: ShapeError - `index` is larger than `a` in another dimension, or has another rank
void gather(const Array& out, const Array& a, std::int64_t dim, const Array& index);

/// out[i][index[i][j][k]][k] += src[i][j][k] for dim 1, in the order of j.
///
/// `index` is at most as large as `src` in all dimensions, and at most as large as `out` in the
/// dimensions other than `dim`. src has out's dtype.
///
/// Throws: ShapeError - `index` is too large, or has another rank
void scatter_add(const Array& out, std::int64_t dim, const Array& index, const Array& src);

/// As scatter_add, but replaces the elements. The last of several writes to one element wins.
void scatter(const Array& out, std::int64_t dim, const Array& index, const Array& src);

/// As scatter_add, but `how` selects what happens to an element. Errors name `operation`.
void scatter_reduce(const char* operation, Write how, const Array& out, std::int64_t dim,
                    const Array& index, const Array& src);

/// Copies the slices of `a` along `dim` at the positions in `index` to `out`, in order.
///
/// `index` is 0-d or 1-d. Errors name `operation`.
void index_select(const Array& out, const Array& a, std::int64_t dim, const Array& index,
                  std::string_view operation = "index_select");

/// Adds the slices of `src` along `dim` to the slices of `out` that `index` names, in order.
///
/// `index` is 0-d or 1-d. src has out's dtype.
void index_add(const Array& out, std::int64_t dim, const Array& index, const Array& src);

/// out[..., c] = (index[...] == c), as 0 or 1 in out's dtype.
///
/// Throws: IndexError - an index is not in [0, out.size(-1))
void one_hot(const Array& out, const Array& index);

/// Writes `index` to `out`, with negative elements counted from the end of a dimension of `size`.
///
/// Returns the first element outside of [-size, size), if there is one.
std::optional<std::int64_t> wrap_positions(const Array& out, const Array& index, std::int64_t size);

/// Copies the elements of `a` at the positions in `arrays` to `out`.
///
/// out is row-major, and has the shape arrays.result_shape(a.shape()) and a's dtype. Positions are
/// not checked.
void take_indexed(const Array& out, const Array& a, const IndexArrays& arrays);
/// Replaces the elements of `out` at the positions in `arrays` with the elements of `src`, in
/// order. With `accumulate`, adds the elements of `src` instead.
///
/// `src` broadcasts to arrays.result_shape(out.shape()) and has out's dtype. Positions are not
/// checked.
void put_indexed(const Array& out, const IndexArrays& arrays, const Array& src, bool accumulate);

}  // namespace tend::kernels
