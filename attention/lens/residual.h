/// \file
/// The residual stream as a sum of parts, and what each part says about the next token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tend/attention/lens/run.h>
#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// Tensors of one shape and their names.
struct Parts {
  Tensor stack;  // (part, batch, position, d_model)
  std::vector<std::string> labels;
};

/// All functions here take the cache of a run of `model`, with all names that they need: a cache of
/// all does. `layer` is the number of layers whose output counts; all of them where not given.
/// IndexError for a layer or an activation that is not there.

/// The embeddings and what each layer's attention and feed-forward network add ("embed",
/// "pos_embed", "0_attn_out", "0_mlp_out", ...). Their sum is the residual stream before layer
/// `layer`, or at the end.
Parts parts_by_layer(const attention::GPT& model, const ActivationCache& cache,
                     std::optional<std::int64_t> layer = {});
/// The same with what each head adds in place of the attentions ("L0H1"), and the biases of the
/// attentions' outputs in one part ("bias").
Parts parts_by_head(const attention::GPT& model, const ActivationCache& cache,
                    std::optional<std::int64_t> layer = {});
/// The residual stream before each layer, and at the end ("0_pre", ..., "final_post").
Parts accumulated_parts(const attention::GPT& model, const ActivationCache& cache,
                        std::optional<std::int64_t> layer = {});

/// What parts become in the last norm, whose scale is kept as it was in the run: part / scale *
/// weight, centred first for LayerNorm. So it is linear, and the parts of a whole add up to
/// ln_final.hook_normalized without the norm's bias. `stack` is (..., batch, position, d_model).
Tensor through_final_norm(const attention::GPT& model, const ActivationCache& cache,
                          const Tensor& stack);

/// Direct logit attribution: how much each part adds to the logits of `tokens`, int64 (batch,
/// position): (part, batch, position). With `others`, of the same shape, to their difference.
Tensor logit_attribution(const attention::GPT& model, const ActivationCache& cache,
                         const Parts& parts, const Tensor& tokens, const Tensor& others = {});

/// The logit lens (nostalgebraist 2020): the logits that the last norm and the head make of the
/// residual stream before each layer, and at the end, where they are the model's:
/// (layers + 1, batch, position, d_vocab).
Tensor logit_lens(const attention::GPT& model, const ActivationCache& cache);

/// The Jacobian lens (Gurnee et al. 2026, https://transformer-circuits.pub/2026/workspace): how the
/// residual stream before each layer changes what is at its end, on average over `tokens`, int64
/// (batch, position): entry (l, i, j) is the mean over batches and positions s of the sum over
/// positions t of d end(t, i) / d before_l(s, j). The last one is the identity. It takes d_model
/// backwards. (layers + 1, d_model, d_model). ShapeError and IndexError of the model's forward.
Tensor residual_jacobians(const attention::GPT& model, const Tensor& tokens);
/// The logits that the last norm and the head make of jacobians @ the residual stream before each
/// layer; with residual_jacobians' result the Jacobian lens, with identities the logit lens.
/// (layers + 1, batch, position, d_vocab). ShapeError for matrices of another shape.
Tensor jacobian_lens(const attention::GPT& model, const ActivationCache& cache,
                     const Tensor& jacobians);

}  // namespace tend::lens
