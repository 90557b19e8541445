// Reading and writing at places along one dimension, which int64 tensors name.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/scalar.h>

namespace tend {

class Tensor;

// Every index is checked (IndexError, also for negative ones) before anything is computed; indices
// are int64 (DTypeError). Formulas are for dim 1 of three; dimensions may count from the end.

/// out[i][j][k] = self[i][index[i][j][k]][k]. `index` has self's rank and is at most as large in
/// the other dimensions (ShapeError).
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);

/// A copy of self with source[i][j][k] in place of [i][index[i][j][k]][k]; where an element is
/// named more than once, the last stays, and all of these sources get its gradient, as in PyTorch.
/// Shapes and dtypes are those of scatter_add.
/// https://pytorch.org/docs/2.6/generated/torch.scatter.html
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);
/// With a number, converted to self's dtype (DTypeError where int64 cannot hold it).
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value);

/// A copy of self with source[i][j][k] added at [i][index[i][j][k]][k]. `index` is at most as large
/// as source, and as self in the other dimensions (ShapeError); source has self's dtype.
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// The slices of self along `dim` that the 0-d or 1-d `index` names.
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);

/// A copy of self with the slices of source added to those that the 0-d or 1-d `index` names;
/// source has self's dtype.
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// gather after self and `index` are broadcast against each other in the other dimensions; their
/// ranks must be equal (ShapeError). Without `dim` both are flattened. Of argmax(..., keepdim) or
/// argsort it gives the elements. https://pytorch.org/docs/2.6/generated/torch.take_along_dim.html
Tensor take_along_dim(const Tensor& self, const Tensor& index,
                      std::optional<std::int64_t> dim = std::nullopt);

/// Rows of `weight` (num_embeddings, embedding_dim) for indices of any shape: (*, embedding_dim).
/// The row `padding_idx` (which may count from the end) gets no gradient.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.embedding.html
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx = std::nullopt);

/// 1 where the last of (*, num_classes) dimensions equals the index, else 0; int64. With -1 there
/// are as many classes as the largest index asks for (ShapeError where there are no indices).
Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1);

}  // namespace tend
