#include <tend/attention/lens/weights.h>

#include <tend/autograd/ops/ops.h>

namespace tend::lens {
namespace {

using attention::FeedForward;
using attention::FeedForwardKind;
using attention::GPT;
using attention::GroupedQueryAttention;

const attention::TransformerBlock& block_of(const GPT& model, std::int64_t layer) {
  const std::int64_t layers = std::ssize(model.blocks);
  if (layer < 0 || layer >= layers)
    fail<IndexError>("lens", "there is no layer ", layer, ": the model has ", layers);
  return model.blocks[layer];
}

const GroupedQueryAttention& attention_of(const GPT& model, std::int64_t layer) {
  return block_of(model, layer).attention;
}

const FeedForward& feed_forward_of(const GPT& model, std::int64_t layer) {
  const FeedForward& mlp = block_of(model, layer).feed_forward;
  if (mlp.kind == FeedForwardKind::none) fail("lens", "the model has no feed-forward networks");
  return mlp;
}

// (heads * d_head, d_model) -> (heads, d_model, d_head)
Tensor by_head(const Tensor& weight, std::int64_t heads) {
  return weight.unflatten(0, {heads, -1}).transpose(1, 2);
}

Tensor bias_by_head(const Tensor& bias, std::int64_t heads) {
  return bias.defined() ? bias.unflatten(0, {heads, -1}) : Tensor();
}

bool has_gate(const FeedForward& mlp) {
  return attention::is_gated(mlp.kind);
}

// The first half of the rows of a gated network's matrix (number 0), or the second (number 1).
// Without a gate, all rows.
Tensor rows_of(const FeedForward& mlp, const Tensor& x, std::int64_t number) {
  if (!x.defined() || !has_gate(mlp)) return x;
  const std::int64_t half = x.size(0) / 2;
  return x.narrow(0, number * half, half);
}

// Repeats the weights of each key/value head, so that there are weights for each query head.
Tensor for_queries(const GPT& model, const Tensor& x) {
  const std::int64_t group = model.config.num_heads / model.config.kv_heads();
  return group == 1 ? x : repeat_interleave(x, group, 0);
}

}  // namespace

Tensor W_Q(const GPT& model, std::int64_t layer) {
  return by_head(attention_of(model, layer).W_query.weight, model.config.num_heads);
}

Tensor W_K(const GPT& model, std::int64_t layer) {
  return by_head(attention_of(model, layer).W_key.weight, model.config.kv_heads());
}

Tensor W_V(const GPT& model, std::int64_t layer) {
  return by_head(attention_of(model, layer).W_value.weight, model.config.kv_heads());
}

Tensor b_Q(const GPT& model, std::int64_t layer) {
  return bias_by_head(attention_of(model, layer).W_query.bias, model.config.num_heads);
}

Tensor b_K(const GPT& model, std::int64_t layer) {
  return bias_by_head(attention_of(model, layer).W_key.bias, model.config.kv_heads());
}

Tensor b_V(const GPT& model, std::int64_t layer) {
  return bias_by_head(attention_of(model, layer).W_value.bias, model.config.kv_heads());
}

Tensor W_O(const GPT& model, std::int64_t layer) {
  const Tensor weight = attention_of(model, layer).out_proj.weight;  // (d_model, heads * d_head)
  return weight.unflatten(1, {model.config.num_heads, -1}).permute({1, 2, 0});
}

Tensor b_O(const GPT& model, std::int64_t layer) {
  return attention_of(model, layer).out_proj.bias;
}

Tensor W_in(const GPT& model, std::int64_t layer) {
  const FeedForward& mlp = feed_forward_of(model, layer);
  return rows_of(mlp, mlp.up.weight, 1).t();
}

Tensor W_gate(const GPT& model, std::int64_t layer) {
  const FeedForward& mlp = feed_forward_of(model, layer);
  return has_gate(mlp) ? rows_of(mlp, mlp.up.weight, 0).t() : Tensor();
}

Tensor b_in(const GPT& model, std::int64_t layer) {
  const FeedForward& mlp = feed_forward_of(model, layer);
  return rows_of(mlp, mlp.up.bias, 1);
}

Tensor b_gate(const GPT& model, std::int64_t layer) {
  const FeedForward& mlp = feed_forward_of(model, layer);
  return has_gate(mlp) ? rows_of(mlp, mlp.up.bias, 0) : Tensor();
}

Tensor W_out(const GPT& model, std::int64_t layer) {
  return feed_forward_of(model, layer).down.weight.t();
}

Tensor b_out(const GPT& model, std::int64_t layer) {
  return feed_forward_of(model, layer).down.bias;
}

Tensor W_E(const GPT& model) {
  return model.token_embedding.weight;
}

Tensor W_pos(const GPT& model) {
  return model.position_embedding.weight;
}

Tensor W_U(const GPT& model) {
  return model.head.weight.t();
}

Tensor QK(const GPT& model, std::int64_t layer) {
  return matmul(W_Q(model, layer), for_queries(model, W_K(model, layer)).transpose(1, 2));
}

Tensor OV(const GPT& model, std::int64_t layer) {
  return matmul(for_queries(model, W_V(model, layer)), W_O(model, layer));
}

}  // namespace tend::lens
