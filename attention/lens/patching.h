/// \file
/// Which activations a behaviour depends on: runs of a model with some activations replaced.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tend/attention/lens/run.h>
#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// A number that is measured in a run: a function of the logits (batch, position, d_vocab), such as
/// the difference of two logits. It returns a tensor of one element.
using Metric = std::function<Tensor(const Tensor& logits)>;

/// A hook that replaces some heads of hook_q, hook_k, hook_v, hook_z or hook_result by `value`.
///
/// `value` broadcasts to (batch, position, number of heads, d_head). To ablate heads, pass zeros,
/// or cache[name].mean({0, 1}), or the activation of another run.
///
/// Throws:
///   Error      - `name` is not one of these activations
///   IndexError - in the run, there is no such head
///   ShapeError - in the run, `value` does not broadcast
Hook replace_heads(const std::string& name, const std::vector<std::int64_t>& heads,
                   const Tensor& value);

/// Activation patching measures how the metric of a run on `tokens` changes if one activation is
/// replaced by the activation in `cache`. The cache is from a run on other tokens of the same
/// shape. Each entry of the results, which are float64, is the metric of one such run. The runs
/// record no graph.
///
/// Throws:
///   IndexError - the cache lacks an activation
///   ShapeError - the cache is from tokens of another shape, or the metric is not one element
///
/// Meng et al. 2022, https://arxiv.org/abs/2202.05262; Wang et al. 2023,
/// https://arxiv.org/abs/2211.00593.

/// Replaces the whole residual stream at one position of one layer: (layers, position). `name` is
/// hook_resid_pre, hook_resid_mid, hook_resid_post, hook_attn_out or hook_mlp_out.
Tensor patch_by_position(const attention::GPT& model, const Tensor& tokens,
                         const ActivationCache& cache, const Metric& metric,
                         const std::string& name = "hook_resid_pre");
/// Replaces one head at all positions: (layers, heads). `name` is hook_z, hook_q, hook_k or hook_v.
Tensor patch_by_head(const attention::GPT& model, const Tensor& tokens,
                     const ActivationCache& cache, const Metric& metric,
                     const std::string& name = "hook_z");
/// Replaces one head at one position: (layers, heads, position).
Tensor patch_by_head_and_position(const attention::GPT& model, const Tensor& tokens,
                                  const ActivationCache& cache, const Metric& metric,
                                  const std::string& name = "hook_z");

/// Attribution patching: estimates by how much patch_by_head_and_position changes the metric, from
/// one run and one call of backward.
///
/// The estimate is of first order: the sum over batch and d_head of (activation in the cache -
/// activation in the run) times the gradient of the metric in the run. The result is (layers,
/// heads, position).
///
/// Throws:
///   IndexError - the cache lacks an activation
///   ShapeError - the cache is from tokens of another shape
///
/// Nanda 2023, https://www.neelnanda.io/attribution-patching
Tensor attribute_by_head_and_position(const attention::GPT& model, const Tensor& tokens,
                                      const ActivationCache& cache, const Metric& metric,
                                      const std::string& name = "hook_z");

/// A head of a layer, by its indices.
struct Head {
  std::int64_t layer = 0;
  std::int64_t head = 0;
};

/// Path patching: measures how a sender head influences the metric through some receiver heads.
///
/// In a first run on `tokens`, the sender has the activation from `cache`. All other heads keep
/// their activations from a plain run on `tokens`. This first run determines the input of the
/// receivers. The result is the metric of a second run, in which only the receivers get this input:
/// a float64 tensor of one element.
///
/// `name` is the receivers' input: hook_q, hook_k or hook_v. Without receivers, the result is the
/// metric of the first run. It shows the direct path, from the sender through feed-forward networks
/// to the logits.
///
/// Throws:
///   Error      - a receiver's layer is not after the sender's layer
///   IndexError - the cache lacks an activation
///   ShapeError - the cache is from tokens of another shape, or the metric is not one element
///
/// Wang et al. 2023, section 3.1.
Tensor patch_path(const attention::GPT& model, const Tensor& tokens, const ActivationCache& cache,
                  const Metric& metric, const Head& sender, const std::vector<Head>& receivers = {},
                  const std::string& name = "hook_q");

}  // namespace tend::lens
