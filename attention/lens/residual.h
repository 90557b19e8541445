/// \file
/// The residual stream as a sum of parts, and how each part affects the prediction of the next
/// token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tend/attention/lens/run.h>
#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// Tensors of one shape, with their names.
struct Parts {
  Tensor stack;  // (part, batch, position, d_model)
  std::vector<std::string> labels;
};

/// All functions here accept the cache of a run of `model`. It must contain the activations that
/// the function reads; a cache of all activations does. `layer` is the number of layers whose
/// outputs are included. The default is all layers.
///
/// Throws: IndexError - there is no such layer or activation

/// The embeddings and what each layer's attention and feed-forward network add: "embed",
/// "pos_embed", "0_attn_out", "0_mlp_out", and so on. Their sum is the residual stream before layer
/// `layer`, or at the end.
Parts parts_by_layer(const attention::GPT& model, const ActivationCache& cache,
                     std::optional<std::int64_t> layer = {});
/// parts_by_layer with one part for each head ("L0H1") instead of each attention. The biases of the
/// attentions' outputs are one part ("bias").
Parts parts_by_head(const attention::GPT& model, const ActivationCache& cache,
                    std::optional<std::int64_t> layer = {});
/// The residual stream before each layer and at the end: "0_pre", ..., "final_post".
Parts accumulated_parts(const attention::GPT& model, const ActivationCache& cache,
                        std::optional<std::int64_t> layer = {});

/// Applies the final norm to parts of the residual stream, with the scale that it had in the run.
///
/// The result is part / scale * weight; LayerNorm centres the part first. With a fixed scale this
/// is linear, so the results for all parts of the stream add up to ln_final.hook_normalized without
/// the norm's bias. `stack` is (..., batch, position, d_model), and so is the result.
Tensor through_final_norm(const attention::GPT& model, const ActivationCache& cache,
                          const Tensor& stack);

/// Direct logit attribution: how much each part adds to the logits of `tokens`.
///
/// For each part it is the scalar product of through_final_norm(part) and the token's direction in
/// W_U. `tokens` is (batch, position), int64. With `others`, of the same shape, it is how much each
/// part adds to the difference logit(tokens) - logit(others). The result is (part, batch,
/// position). The parts add up to the logits without the share of the final norm's bias, which is
/// the same for all runs.
///
/// Throws: ShapeError - `tokens` or `others` is not (batch, position)
Tensor logit_attribution(const attention::GPT& model, const ActivationCache& cache,
                         const Parts& parts, const Tensor& tokens, const Tensor& others = {});

/// The logit lens (nostalgebraist 2020): applies the final norm and the head to the residual stream
/// before each layer and at the end. The result is (layers + 1, batch, position, d_vocab). Its last
/// entry is the logits of the model.
Tensor logit_lens(const attention::GPT& model, const ActivationCache& cache);

/// The Jacobians of the Jacobian lens: how the residual stream before each layer changes the stream
/// at the end, averaged over `tokens`.
///
/// `tokens` is (batch, position), int64. Let `before_l` be the stream before layer l, and `end` the
/// stream at the end. Entry (l, i, j) is d end(t, i) / d before_l(s, j), summed over positions t
/// and averaged over batches and positions s. The result is (layers + 1, d_model, d_model). Its
/// last matrix is the identity. The function calls backward d_model times.
///
/// Throws: ShapeError, IndexError - the model does not accept the tokens; see GPT::forward
///
/// Gurnee et al. 2026, https://transformer-circuits.pub/2026/workspace
Tensor residual_jacobians(const attention::GPT& model, const Tensor& tokens);
/// The Jacobian lens: applies the final norm and the head to jacobians @ the residual stream before
/// each layer and at the end.
///
/// `jacobians` is (layers + 1, d_model, d_model). It is the result of residual_jacobians; with
/// identities the function is the logit lens. The result is (layers + 1, batch, position, d_vocab).
///
/// Throws: ShapeError - `jacobians` has another shape
Tensor jacobian_lens(const attention::GPT& model, const ActivationCache& cache,
                     const Tensor& jacobians);

}  // namespace tend::lens
