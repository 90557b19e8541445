#include <tend/attention/lens/fold.h>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::lens {
namespace {

using attention::GPT;
using attention::Norm;

// A copy of the model whose output head has its own weight.
GPT untied_copy(const GPT& model) {
  GPT copy = model.clone();
  copy.head.weight = nn::Parameter(model.head.weight.detach().clone());
  copy.config.tied_head = false;
  return copy;
}

// Folds the weight and bias of a norm into a map that reads it: W (w x + b) = (W w) x + W b.
void fold_into(const Norm& norm, nn::Linear& map) {
  if (norm.kind == attention::NormKind::none) return;
  if (norm.bias.defined()) {
    const Tensor added = matmul(map.weight, norm.bias);
    map.bias = nn::Parameter((map.bias.defined() ? map.bias + added : added).detach());
  }
  map.weight.mul_(norm.weight);
}

void reset(const Norm& norm) {
  if (norm.weight.defined()) norm.weight.fill_(1);
  if (norm.bias.defined()) norm.bias.zero_();
}

// Subtracts the mean over dimension `dim`.
void centre(const Tensor& x, std::int64_t dim) {
  if (x.defined()) x.sub_(x.mean({dim}, true));
}

}  // namespace

GPT fold_norms(const GPT& model) {
  const NoGradGuard no_graph;
  GPT copy = untied_copy(model);
  for (attention::TransformerBlock& block : copy.blocks) {
    for (nn::Linear* const map :
         {&block.attention.W_query, &block.attention.W_key, &block.attention.W_value})
      fold_into(block.norm1, *map);
    fold_into(block.norm2, block.feed_forward.up);
    reset(block.norm1);
    reset(block.norm2);
  }
  fold_into(copy.norm, copy.head);
  reset(copy.norm);
  return copy;
}

GPT centre_writing(const GPT& model) {
  if (model.config.norm != attention::NormKind::layer)
    fail("centre_writing", "the norms of the model must be LayerNorm, which subtracts the mean");
  const NoGradGuard no_graph;
  GPT copy = untied_copy(model);
  centre(copy.token_embedding.weight, 1);
  centre(copy.position_embedding.weight, 1);
  for (attention::TransformerBlock& block : copy.blocks) {
    for (nn::Linear* const map : {&block.attention.out_proj, &block.feed_forward.down}) {
      centre(map->weight, 0);
      centre(map->bias, 0);
    }
  }
  return copy;
}

GPT centre_unembedding(const GPT& model) {
  const NoGradGuard no_graph;
  GPT copy = untied_copy(model);
  centre(copy.head.weight, 0);
  centre(copy.head.bias, 0);
  return copy;
}

}  // namespace tend::lens
