/// \file
/// Reading and writing elements at positions along one dimension, given by int64 tensors
/// (DTypeError). Every index is checked (IndexError, also for negative ones) before anything is
/// computed. Formulas are for dim 1 of three; dimensions may count from the end. Elements have any
/// dtype.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/scalar.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// out[i][j][k] = self[i][index[i][j][k]][k] for `dim` 1, in index's shape. `index` is int64
/// (DTypeError), has self's rank and is at most as large in the other dimensions (ShapeError);
/// IndexError for `dim`, and for an index out of range or negative. The gradient of self is
/// scatter_add of the result's into zeros.
/// https://pytorch.org/docs/2.6/generated/torch.gather.html
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);

/// A copy of self with source[i][j][k] written to [i][index[i][j][k]][k], for `dim` 1. Shapes,
/// dtypes and errors are those of scatter_add. The gradient of self is the result's with zeros at
/// these positions, that of source the result's gathered from them. Where an element is named more
/// than once, the last value stays, and all values written there get its gradient, as in PyTorch.
/// https://pytorch.org/docs/2.6/generated/torch.scatter.html
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// A copy of self with a number written to [i][index[i][j][k]][k], for `dim` 1, converted to self's
/// dtype (DTypeError if that cannot hold it). Everything else is as with a source. The gradient of
/// self is the result's with zeros at these positions.
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value);

/// A copy of self with source[i][j][k] added to [i][index[i][j][k]][k], for `dim` 1. `index` is
/// int64 (DTypeError), all have one rank, and `index` is at most as large as source, and as self in
/// the other dimensions (ShapeError); source has self's dtype (DTypeError). IndexError for `dim`,
/// and for an index out of range or negative. The gradient of self is the result's, that of source
/// the result's gathered from these positions.
/// https://pytorch.org/docs/2.6/generated/torch.scatter_add.html
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// How scatter_reduce combines the elements that go to one position.
enum class ScatterReduction { sum, prod, mean, amax, amin };
template <>
inline constexpr std::string_view detail::kWords<ScatterReduction> =
    "reduce: sum prod mean amax amin";

/// A copy of self in which an element that `index` names is the sum (product, mean, largest,
/// smallest) of itself and of all source[i][j][k] that go to its position
/// [i][index[i][j][k]][k], for `dim` 1; of these alone without `include_self`. Shapes, dtypes and
/// errors are those of scatter_add, and for a mean of bools a DTypeError; that of int64 is rounded
/// down. NaN is the largest and the smallest.
///
/// The gradient of a term is the result's: as it is for a sum, divided by the number of terms for
/// a mean, times the other factors for a product, and in even shares to those that are equal to the
/// largest or smallest. Without `include_self` that of an element that is named is zero; it takes
/// no share either (in PyTorch it does). As in PyTorch, a product has no second derivative
/// (AutogradError) where several zeros of source go to one position.
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.scatter_reduce_.html
Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index,
                      const Tensor& source, OrWord<ScatterReduction> reduce,
                      Flag include_self = true);

/// The slices of self along `dim` that the 0-d or 1-d (ShapeError) int64 `index` (DTypeError)
/// names, one after the other. IndexError for `dim`, and for an index out of range or negative. The
/// gradient of self is index_add of the result's to zeros.
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);

/// A copy of self with alpha times the slices of source along `dim` added to those that the 0-d or
/// 1-d int64 `index` (DTypeError) names; source has self's dtype (DTypeError) and shape, but for
/// `dim` (ShapeError). IndexError for `dim`, and for an index out of range or negative. The
/// gradient of self is the result's, that of source alpha times index_select of it.
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha = 1);

/// gather after self and `index` are broadcast against each other in the other dimensions; their
/// ranks must be equal (ShapeError). Without `dim` both are flattened. With the indices of
/// argmax(..., keepdim) or argsort, it returns their elements. Errors are gather's. The gradient of
/// self is the result's, added at the positions that were read.
/// https://pytorch.org/docs/2.6/generated/torch.take_along_dim.html
Tensor take_along_dim(const Tensor& self, const Tensor& index,
                      std::optional<Integer> dim = std::nullopt);

/// Rows of `weight` (num_embeddings, embedding_dim) for indices `input` of any shape: (*,
/// embedding_dim). The two may change places, as in torch.embedding(weight, indices): a floating
/// one before an int64 one is the weight. ShapeError for a weight that is not 2-d, DTypeError
/// unless the indices are int64, IndexError for an index or a `padding_idx` (which may count from
/// the end) that is not a row. The gradient of a row is the sum of the result's over its copies;
/// that of row `padding_idx` is zero.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.embedding.html
Tensor embedding(const Tensor& input, const Tensor& weight,
                 std::optional<Integer> padding_idx = std::nullopt);

/// (*, num_classes): 1 where the position in the last dimension equals the index, else 0; int64.
/// With -1 there are as many classes as the largest index needs (ShapeError where there are no
/// indices). DTypeError unless int64, IndexError for an index that is not a class. No gradient.
Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1);

/// A copy of self with source in the place of slice(self, dim, start, stop, step), whose shape it
/// has (ShapeError), and with slice's errors. The gradient of self is the result's, 0 where source
/// is; that of source is the slice of the result's.
Tensor slice_scatter(const Tensor& self, const Tensor& source, std::int64_t dim = 0,
                     std::optional<Integer> start = std::nullopt,
                     std::optional<Integer> stop = std::nullopt, std::int64_t step = 1);
/// The same for one slice, select(self, dim, index), with select's errors. The gradient of self is
/// the result's, 0 where source is; that of source is the selected part of the result's.
Tensor select_scatter(const Tensor& self, const Tensor& source, std::int64_t dim,
                      std::int64_t index);

}  // namespace tend
