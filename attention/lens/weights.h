/// \file
/// A GPT's weights as papers write them: a matrix for each head, which multiplies rows from the
/// right.
#pragma once

#include <cstdint>

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// All of these are views of the parameters, unless said otherwise: what is written to them changes
/// the model, and gradients flow to it. A layer that is not there is an IndexError. With fewer
/// heads of keys and values than of queries, W_K, W_V and their biases have an entry for each of
/// those. Biases that a model does not have are undefined.
/// https://transformerlensorg.github.io/TransformerLens

///@{
/// (head, d_model, d_head): queries, keys and values of a layer are x @ W + b.
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
/// (d_model, d_mlp): mlp.hook_pre is x @ W_in + b_in, or of a gated network x @ W_gate + b_gate,
/// and then mlp.hook_pre_linear is x @ W_in + b_in. What there is only with a gate is undefined
/// without.
Tensor W_in(const attention::GPT& model, std::int64_t layer);
Tensor W_gate(const attention::GPT& model, std::int64_t layer);
///@}
///@{
/// (d_mlp)
Tensor b_in(const attention::GPT& model, std::int64_t layer);
Tensor b_gate(const attention::GPT& model, std::int64_t layer);
///@}
/// (d_mlp, d_model)
Tensor W_out(const attention::GPT& model, std::int64_t layer);
/// (d_model)
Tensor b_out(const attention::GPT& model, std::int64_t layer);

/// (d_vocab, d_model)
Tensor W_E(const attention::GPT& model);
/// (position, d_model); undefined where positions are not learned.
Tensor W_pos(const attention::GPT& model);
/// (d_model, d_vocab)
Tensor W_U(const attention::GPT& model);

/// The circuits of Elhage et al. 2021 (https://transformer-circuits.pub/2021/framework), a matrix
/// for each head of the query, not views: x_query @ QK @ x_key^T are the scores before scaling,
/// without biases; x_key @ OV is what a head writes of a key that it attends to. (head, d_model,
/// d_model)
Tensor QK(const attention::GPT& model, std::int64_t layer);
Tensor OV(const attention::GPT& model, std::int64_t layer);

}  // namespace tend::lens
