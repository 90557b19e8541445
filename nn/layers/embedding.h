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

/// A table that has a row for each index (torch.nn.Embedding).
///
/// The table is `weight` (num_embeddings, embedding_dim), which starts with random numbers from
/// N(0, 1). The row of `padding_idx` starts as zeros and gets no gradient.
class Embedding : public Module<Embedding> {
 public:
  /// A table of this size. A negative padding index counts from the end.
  ///
  /// Throws:
  ///   ShapeError - a size is negative
  ///   IndexError - the padding index is out of range
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            std::optional<Integer> padding_index = std::nullopt);
  /// The same with options. O is always EmbeddingOptions; the constructor is a template only so
  /// that an argument like {2} is still read as an index.
  template <std::same_as<EmbeddingOptions> O = EmbeddingOptions>
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const O& options)
      : Embedding(num_embeddings, embedding_dim, index_of(options)) {}

  /// The row of each index: (...) int64 -> (..., embedding_dim).
  ///
  /// Throws: IndexError - an index is out of range
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
