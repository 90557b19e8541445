/// \file
/// The weights of a GPT as papers write them: one matrix for each head, and activations are rows:
/// x @ W.
#pragma once

#include <cstdint>

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// Unless stated otherwise, the results are views of the parameters: writing to them changes the
/// model, and gradients flow to the parameters.
///
/// With fewer heads of keys and values than of queries, W_K, W_V, b_K and b_V have one entry for
/// each head of keys and values. Biases that a model does not have are undefined.
///
/// Throws:
///   IndexError - there is no such layer
///   Error      - the weight belongs to a feed-forward network, but the model has none
///
/// https://transformerlensorg.github.io/TransformerLens

///@{
/// (head, d_model, d_head): the queries, keys and values of a layer are x @ W + b.
Tensor W_Q(const attention::GPT& model, std::int64_t layer);
Tensor W_K(const attention::GPT& model, std::int64_t layer);
Tensor W_V(const attention::GPT& model, std::int64_t layer);
///@}
///@{
/// (head, d_head)
Tensor b_Q(const attention::GPT& model, std::int64_t layer);
Tensor b_K(const attention::GPT& model, std::int64_t layer);
Tensor b_V(const attention::GPT& model, std::int64_t layer);
///@}
/// (head, d_head, d_model): a head adds z @ W_O to the residual stream.
Tensor W_O(const attention::GPT& model, std::int64_t layer);
/// (d_model)
Tensor b_O(const attention::GPT& model, std::int64_t layer);

///@{
/// (d_model, d_mlp). Without a gate, mlp.hook_pre is x @ W_in + b_in, and W_gate is undefined. With
/// a gate, mlp.hook_pre is x @ W_gate + b_gate, and mlp.hook_pre_linear is x @ W_in + b_in.
Tensor W_in(const attention::GPT& model, std::int64_t layer);
Tensor W_gate(const attention::GPT& model, std::int64_t layer);
///@}
///@{
/// (d_mlp). Without a gate, b_gate is undefined.
Tensor b_in(const attention::GPT& model, std::int64_t layer);
Tensor b_gate(const attention::GPT& model, std::int64_t layer);
///@}
/// (d_mlp, d_model)
Tensor W_out(const attention::GPT& model, std::int64_t layer);
/// (d_model)
Tensor b_out(const attention::GPT& model, std::int64_t layer);

/// (d_vocab, d_model)
Tensor W_E(const attention::GPT& model);
/// (position, d_model); undefined unless positions are learned.
Tensor W_pos(const attention::GPT& model);
/// (d_model, d_vocab)
Tensor W_U(const attention::GPT& model);

/// The circuits of each head of queries: (head, d_model, d_model). They are not views.
///
/// x_query @ QK @ x_key^T are the attention scores before scaling, without biases. x_key @ OV is
/// what a head adds to the residual stream for a key that it attends to.
///
/// Elhage et al. 2021, https://transformer-circuits.pub/2021/framework
Tensor QK(const attention::GPT& model, std::int64_t layer);
Tensor OV(const attention::GPT& model, std::int64_t layer);

}  // namespace tend::lens
