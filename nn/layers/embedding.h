// Embedding: a row of a table for each index.
#pragma once

#include <optional>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// Looks int64 indices up in weight (num_embeddings, embedding_dim), drawn from N(0, 1); the row of
/// `padding_idx` is zero and gets no gradient (torch.nn.Embedding).
class Embedding : public Module<Embedding> {
 public:
  /// ShapeError for negative sizes, IndexError for a padding index outside of the table.
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            std::optional<Integer> padding_index = std::nullopt);

  /// (...) int64 -> (..., embedding_dim). IndexError for an index outside of the table.
  Tensor forward(const Tensor& indices) const;
  std::string extra_repr() const override;

  std::optional<std::int64_t> padding_idx;
  TEND_PARAMETER(weight);
};

}  // namespace tend::nn
