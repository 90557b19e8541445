// Embedding: a row of a table for each index.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// The options of Embedding.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = std::nullopt;
};

/// Looks int64 indices up in weight (num_embeddings, embedding_dim), drawn from N(0, 1); the row of
/// `padding_idx` is zero and gets no gradient (torch.nn.Embedding).
class Embedding : public Module<Embedding> {
 public:
  /// ShapeError for negative sizes, IndexError for a padding index outside of the table.
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            std::optional<Integer> padding_index = std::nullopt);
  /// The same with options. O is EmbeddingOptions: a template, so that other braces are still an
  /// index.
  template <std::same_as<EmbeddingOptions> O = EmbeddingOptions>
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const O& options)
      : Embedding(num_embeddings, embedding_dim, index_of(options)) {}

  /// (...) int64 -> (..., embedding_dim). IndexError for an index outside of the table.
  Tensor forward(const Tensor& indices) const;
  std::string extra_repr() const override;

  std::optional<std::int64_t> padding_idx;
  TEND_PARAMETER(weight);

 private:
  static std::optional<Integer> index_of(const EmbeddingOptions& options) {
    if (!options.padding_idx) return std::nullopt;
    return Integer(*options.padding_idx);
  }
};

}  // namespace tend::nn
