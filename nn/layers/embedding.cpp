#include <tend/nn/layers/embedding.h>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/layers/init.h>

namespace tend::nn {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     std::optional<Integer> padding_index)
    : padding_idx(padding_index) {
  if (num_embeddings < 0 || embedding_dim < 0) {
    fail<ShapeError>("Embedding", "num_embeddings ", num_embeddings, " and embedding_dim ",
                     embedding_dim, " must not be negative");
  }
  if (padding_idx && (*padding_idx < -num_embeddings || *padding_idx >= num_embeddings)) {
    fail<IndexError>("Embedding", "padding_idx ", *padding_idx, " is out of range for ",
                     num_embeddings, " rows");
  }
  if (padding_idx && *padding_idx < 0) *padding_idx += num_embeddings;
  const Tensor table = empty({num_embeddings, embedding_dim});
  init::normal_(table);
  if (padding_idx) table[*padding_idx].fill_(0);
  weight = Parameter(table);
}

Tensor Embedding::forward(const Tensor& indices) const {
  return embedding(indices, weight, padding_idx);
}

std::string Embedding::extra_repr() const {
  return as_text(weight.size(0), ", ", weight.size(1)) +
         (padding_idx ? as_text(", padding_idx=", *padding_idx) : "");
}

}  // namespace tend::nn
