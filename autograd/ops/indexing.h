/// \file
/// Functions that read and write elements at positions along one dimension. int64 tensors give the
/// positions.
///
/// Every index is checked before anything is computed. Formulas are for `dim` 1 of tensors with
/// three dimensions. `dim` may count from the end. Elements may have any dtype.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/scalar.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// Reads elements along `dim`: out[i][j][k] = self[i][index[i][j][k]][k] for `dim` 1.
///
/// `index` is int64 and has self's rank. In the other dimensions it is at most as large as self.
/// The result has the shape of `index` and self's dtype. The gradient of self is scatter_add of the
/// result's gradient into zeros.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64
///   ShapeError - `index` has another rank than self, or is larger in another dimension
///
/// https://pytorch.org/docs/2.6/generated/torch.gather.html
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);

/// Copies self and writes source[i][j][k] to position [i][index[i][j][k]][k], for `dim` 1.
///
/// `index` is int64. All three tensors have one rank. `index` is at most as large as source, and in
/// the other dimensions at most as large as self. source has self's dtype. If several values go to
/// one position, the last one stays.
///
/// The gradient of self is the result's gradient, with zeros at the written positions. The gradient
/// of source is the result's gradient, gathered from these positions. As in PyTorch, all values
/// that went to one position get the gradient of this position.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64, or source has another dtype than self
///   ShapeError - the ranks differ, or `index` is too large
///
/// https://pytorch.org/docs/2.6/generated/torch.scatter.html
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// Copies self and writes a number to the positions [i][index[i][j][k]][k], for `dim` 1.
///
/// `index` is int64 and has self's rank. In the other dimensions it is at most as large as self.
/// The number is converted to self's dtype. The gradient of self is the result's gradient, with
/// zeros at the written positions.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64, or self's dtype cannot hold the number
///   ShapeError - `index` has another rank than self, or is larger in another dimension
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value);

/// Copies self and adds source[i][j][k] to position [i][index[i][j][k]][k], for `dim` 1.
///
/// `index` is int64. All three tensors have one rank. `index` is at most as large as source, and in
/// the other dimensions at most as large as self. source has self's dtype. The gradient of self is
/// the result's gradient. The gradient of source is the result's gradient, gathered from these
/// positions.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64, or source has another dtype than self
///   ShapeError - the ranks differ, or `index` is too large
///
/// https://pytorch.org/docs/2.6/generated/torch.scatter_add.html
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// How scatter_reduce combines the elements that go to one position.
enum class ScatterReduction { sum, prod, mean, amax, amin };
template <>
inline constexpr std::string_view detail::kWords<ScatterReduction> =
    "reduce: sum prod mean amax amin";

/// Copies self and combines elements of source with it: sum, product, mean, largest or smallest.
///
/// For `dim` 1, source[i][j][k] goes to position [i][index[i][j][k]][k]. The result there combines
/// self's element with all elements that go there. Without `include_self`, it combines only the
/// elements of source. `index` is int64. All three tensors have one rank. `index` is at most as
/// large as source, and in the other dimensions at most as large as self. source has self's dtype.
/// A mean of int64 is rounded down. NaN counts as the largest and as the smallest.
///
/// The elements that are combined are the terms. For a sum, the gradient of a term is the result's
/// gradient. For a mean, it is divided by the number of terms. For a product, it is multiplied by
/// the other terms. For amax and amin, the terms that are equal to the result share it evenly.
/// Without `include_self`, a self element that is replaced has gradient zero. It also gets no share
/// of the gradient of amax and amin (in PyTorch it gets one).
///
/// As in PyTorch, a product has no second derivative where several zeros of source go to one
/// position: backward throws an AutogradError.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64, or source has another dtype than self
///   DTypeError - self is bool, and the reduction is mean
///   ShapeError - the ranks differ, or `index` is too large
///
/// https://pytorch.org/docs/2.6/generated/torch.Tensor.scatter_reduce_.html
Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index,
                      const Tensor& source, OrWord<ScatterReduction> reduce,
                      Flag include_self = true);

/// Returns the slices of self along `dim` that `index` names, one after the other.
///
/// `index` is int64, 0-d or 1-d. The result has self's dtype and rank. The gradient of self is
/// index_add of the result's gradient to zeros.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64
///   ShapeError - `index` has more than one dimension
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);

/// Copies self and adds alpha times the slices of source to the slices along `dim` that `index`
/// names.
///
/// `index` is int64, 0-d or 1-d. source has self's dtype, and self's shape except along `dim`. The
/// gradient of self is the result's gradient. The gradient of source is alpha times index_select of
/// the result's gradient.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64, or source has another dtype than self
///   DTypeError - the dtype cannot hold alpha
///   ShapeError - `index` has more than one dimension, or the shape of source does not fit
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha = 1);

/// Gathers elements along `dim`, after self and `index` are broadcast in the other dimensions.
///
/// `index` is int64 and has self's rank. Without `dim`, both are flattened first. With the indices
/// of argmax(..., keepdim) or argsort, the result has the elements that these functions found. The
/// gradient of self is the result's gradient, added at the positions that were read.
///
/// Throws:
///   IndexError - `dim` is out of range
///   IndexError - an index is out of range or negative
///   DTypeError - `index` is not int64
///   ShapeError - the ranks differ, or the other dimensions do not broadcast
///
/// https://pytorch.org/docs/2.6/generated/torch.take_along_dim.html
Tensor take_along_dim(const Tensor& self, const Tensor& index,
                      std::optional<Integer> dim = std::nullopt);

/// Returns the rows of `weight` for the indices in `input`.
///
/// `weight` is (num_embeddings, embedding_dim). `input` is int64 of any shape. The result is (*,
/// embedding_dim), where * is the shape of `input`. The two arguments may be exchanged, as in
/// torch.embedding(weight, indices): a floating tensor before an int64 tensor is the weight.
/// `padding_idx` may count from the end.
///
/// The gradient of a row is the sum of the result's gradient over its copies. The gradient of row
/// `padding_idx` is zero.
///
/// Throws:
///   IndexError - an index or `padding_idx` is out of range
///   DTypeError - the indices are not int64
///   ShapeError - `weight` is not 2-d
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.embedding.html
Tensor embedding(const Tensor& input, const Tensor& weight,
                 std::optional<Integer> padding_idx = std::nullopt);

/// Returns a vector of zeros for each index, with a 1 at the index.
///
/// `indices` is int64 of any shape. The result is int64 of shape (*, num_classes), where * is that
/// shape. With num_classes -1, the number of classes is the largest index plus 1. No gradient.
///
/// Throws:
///   IndexError - an index is negative, or not below num_classes
///   DTypeError - the indices are not int64
///   ShapeError - num_classes is -1, and there are no indices
///   ShapeError - num_classes is below -1
Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1);

/// Copies self and replaces slice(self, dim, start, stop, step) by source.
///
/// source has the shape of that slice, and is converted to self's dtype. The gradient of self is
/// the result's gradient, with zeros in the slice. The gradient of source is the slice of the
/// result's gradient.
///
/// Throws:
///   ShapeError - source does not have the shape of the slice
///   IndexError - `dim` is out of range, self is 0-d, or the step is below 1
Tensor slice_scatter(const Tensor& self, const Tensor& source, std::int64_t dim = 0,
                     std::optional<Integer> start = std::nullopt,
                     std::optional<Integer> stop = std::nullopt, std::int64_t step = 1);
/// Copies self and replaces select(self, dim, index) by source.
///
/// source has the shape of that part, and is converted to self's dtype. The gradient of self is the
/// result's gradient, with zeros in that part. The gradient of source is that part of the result's
/// gradient.
///
/// Throws:
///   ShapeError - source does not have the shape of select(self, dim, index)
///   IndexError - `dim` or `index` is out of range
Tensor select_scatter(const Tensor& self, const Tensor& source, std::int64_t dim,
                      std::int64_t index);

}  // namespace tend
