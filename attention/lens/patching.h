/// \file
/// Which activations a behaviour depends on: runs in which some are replaced.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tend/attention/lens/run.h>
#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// What is measured of a run: a tensor of one element, made of the logits (batch, position,
/// d_vocab), such as the difference of two of them.
using Metric = std::function<Tensor(const Tensor& logits)>;

/// A hook that replaces heads of hook_q, hook_k, hook_v, hook_z or hook_result by `value`, which
/// broadcasts to (batch, position, number of heads, d_head). An ablation is a value of zeros, of
/// cache[name].mean({0, 1}), or of another run. Its errors come with the run: IndexError for a head
/// that is not there, ShapeError for another value.
Hook replace_heads(const std::string& name, const std::vector<std::int64_t>& heads,
                   const Tensor& value);

/// Activation patching (Meng et al. 2022, https://arxiv.org/abs/2202.05262; Wang et al. 2023,
/// https://arxiv.org/abs/2211.00593): the metric of runs on `tokens`, in each of which one
/// activation is that of `cache`, a run on other tokens of the same shape. Every entry of the
/// results is a run; none records a graph.

/// All of a residual stream's numbers at one position of one layer: (layers, position). `name` is
/// hook_resid_pre, hook_resid_mid, hook_resid_post, hook_attn_out or hook_mlp_out.
Tensor patch_by_position(const attention::GPT& model, const Tensor& tokens,
                         const ActivationCache& cache, const Metric& metric,
                         const std::string& name = "hook_resid_pre");
/// One head at all positions: (layers, heads). `name` is hook_z, hook_q, hook_k or hook_v.
Tensor patch_by_head(const attention::GPT& model, const Tensor& tokens,
                     const ActivationCache& cache, const Metric& metric,
                     const std::string& name = "hook_z");
/// One head at one position: (layers, heads, position).
Tensor patch_by_head_and_position(const attention::GPT& model, const Tensor& tokens,
                                  const ActivationCache& cache, const Metric& metric,
                                  const std::string& name = "hook_z");

/// Attribution patching (Nanda 2023, https://www.neelnanda.io/attribution-patching): the
/// first-order estimates of patch_by_head_and_position's changes of the metric, from one run and
/// one backward: the sum over d_head of (cache - run) times the gradient in the run. (layers,
/// heads, position)
Tensor attribute_by_head_and_position(const attention::GPT& model, const Tensor& tokens,
                                      const ActivationCache& cache, const Metric& metric,
                                      const std::string& name = "hook_z");

/// A head of a layer.
struct Head {
  std::int64_t layer = 0;
  std::int64_t head = 0;
};

/// Path patching (Wang et al. 2023, section 3.1): the metric of a run on `tokens` in which
/// `receivers` read what they would read if `sender` wrote what it did in `cache`, and all other
/// heads what they write on `tokens`. `name` is what the receivers read with: hook_q, hook_k or
/// hook_v, of layers behind the sender's (Error). Without receivers it is the metric of the run
/// in which only the sender, and through the networks between, changes the logits: the direct path.
/// One element.
Tensor patch_path(const attention::GPT& model, const Tensor& tokens, const ActivationCache& cache,
                  const Metric& metric, const Head& sender, const std::vector<Head>& receivers = {},
                  const std::string& name = "hook_q");

}  // namespace tend::lens
