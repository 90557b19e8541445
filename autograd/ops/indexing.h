// Reading and adding at places that int64 tensors name.
#pragma once

#include <cstdint>
#include <optional>

namespace tend {

class Tensor;
struct ValuesAndIndices;

// Every index is checked (IndexError, also for negative ones) before anything is computed; indices
// are int64 (DTypeError). Formulas are for dim 1 of three; dimensions may count from the end.

/// out[i][j][k] = self[i][index[i][j][k]][k]. `index` has self's rank and is at most as large in
/// the other dimensions (ShapeError).
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);

/// A copy of self with source[i][j][k] added at [i][index[i][j][k]][k]. `index` is at most as large
/// as source, and as self in the other dimensions (ShapeError); source has self's dtype.
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// The slices of self along `dim` that the 0-d or 1-d `index` names.
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);

/// A copy of self with the slices of source added to those that the 0-d or 1-d `index` names;
/// source has self's dtype.
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source);

/// Rows of `weight` (num_embeddings, embedding_dim) for indices of any shape: (*, embedding_dim).
/// The row `padding_idx` (which may count from the end) gets no gradient.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.embedding.html
Tensor embedding(const Tensor& weight, const Tensor& indices,
                 std::optional<std::int64_t> padding_idx = std::nullopt);

/// 1 where the last of (*, num_classes) dimensions equals the index, else 0; int64. With -1 there
/// are as many classes as the largest index asks for (ShapeError where there are no indices).
Tensor one_hot(const Tensor& indices, std::int64_t num_classes = -1);

// Orderings along `dim`. Equal elements keep their order; NaN counts as the largest.

/// All elements, with the indices that they had.
ValuesAndIndices sort(const Tensor& self, std::int64_t dim = -1, bool descending = false);
/// The k largest (or smallest), best first; ShapeError when there are fewer.
ValuesAndIndices topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1,
                      bool largest = true);

}  // namespace tend
