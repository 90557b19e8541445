// Folded and centred models have the same logits as the original model.
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;

namespace {

GPTConfig fold_config(NormKind norm, bool tied, bool gated) {
  return {.vocab_size = 31,
          .context_length = 12,
          .width = 24,
          .num_heads = 4,
          .num_layers = 2,
          .norm = norm,
          .feed_forward = gated ? FeedForwardKind::swiglu : FeedForwardKind::gelu,
          .tied_head = tied};
}

// A float64 model, so that another order of summation changes results by about 1e-15. Its norms do
// not have their initial weights.
GPT fold_model(const GPTConfig& config) {
  GPT model(config);
  model.to(float64);
  const NoGradGuard no_graph;
  for (const Tensor& each : model.parameters()) each.add_(randn_like(each), 0.2);
  return model;
}

bool is_same_but_rounded(const Tensor& a, const Tensor& b) {
  return allclose(a, b, 1e-9, 1e-9);
}

}  // namespace

TEST_CASE("folding the norms keeps the logits") {
  manual_seed(1);
  for (const NormKind norm : {NormKind::layer, NormKind::rms}) {
    for (const bool tied : {false, true}) {
      const GPT model = fold_model(fold_config(norm, tied, norm == NormKind::rms));
      const NoGradGuard no_graph;
      const Tensor tokens = randint(0, 31, {2, 7}), before = model(tokens);
      const GPT folded = lens::fold_norms(model);
      CHECK(is_same_but_rounded(folded(tokens), before));
      CHECK(equal(model(tokens), before));
      for (const Norm* const each :
           {&folded.norm, &folded.blocks[1].norm1, &folded.blocks[0].norm2}) {
        CHECK(all(each->weight == 1).item<bool>());
        if (each->bias.defined()) CHECK(all(each->bias == 0).item<bool>());
      }
    }
  }
}

TEST_CASE("centring what is written to the residual stream keeps the logits") {
  manual_seed(2);
  for (const bool tied : {false, true}) {
    const GPT model = fold_model(fold_config(NormKind::layer, tied, false));
    const NoGradGuard no_graph;
    const Tensor tokens = randint(0, 31, {2, 7});
    const GPT centred = lens::centre_writing(model);
    const auto [logits, cache] = lens::run_with_cache(centred, tokens);
    CHECK(is_same_but_rounded(logits, model(tokens)));
    const Tensor means = cache["blocks.1.hook_resid_post"].mean({-1});
    CHECK(is_same_but_rounded(means, zeros_like(means)));
  }
  CHECK_THROWS_WITH(lens::centre_writing(GPT(fold_config(NormKind::rms, false, false))),
                    ContainsSubstring("must be LayerNorm, which subtracts the mean"));
}

TEST_CASE("centring the head changes all logits of a position by the same number") {
  manual_seed(3);
  const GPT model = fold_model(fold_config(NormKind::layer, false, false));
  const NoGradGuard no_graph;
  const Tensor tokens = randint(0, 31, {2, 7});
  const Tensor before = model(tokens), after = lens::centre_unembedding(model)(tokens);
  CHECK(is_same_but_rounded(log_softmax(after, -1), log_softmax(before, -1)));
  CHECK(is_same_but_rounded(after.mean({-1}), zeros({2, 7}, float64)));
}
