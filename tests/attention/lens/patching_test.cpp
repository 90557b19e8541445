// Compares patched runs with the same runs done by hand.
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

GPTConfig patch_config() {
  return {.vocab_size = 31, .context_length = 12, .width = 24, .num_heads = 3, .num_layers = 2};
}

// The difference of two logits of the last token.
Tensor last_difference(const Tensor& logits) {
  const Tensor last = logits.select(1, -1).select(0, 0);
  return last.select(0, 4) - last.select(0, 7);
}

struct PatchRuns {
  GPT model = GPT(patch_config());
  Tensor tokens = randint(0, 31, {1, 5}), others = randint(0, 31, {1, 5});
  lens::ActivationCache cache;
  double usual = 0;

  PatchRuns() {
    model.to(float64);
    const NoGradGuard no_graph;
    cache = lens::run_with_cache(model, others).cache;
    usual = last_difference(model(tokens)).item<double>();
  }
};

double entry(const Tensor& x, const std::vector<std::int64_t>& place) {
  Tensor one = x;
  for (const std::int64_t i : place) one = one.select(0, i);
  return one.item<double>();
}

}  // namespace

TEST_CASE("a run patched with itself is not changed") {
  manual_seed(1);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const auto own = lens::run_with_cache(runs.model, runs.tokens).cache;
  const auto is_usual = [&](const Tensor& x) {
    return allclose(x, full(x.shape(), runs.usual, {.dtype = float64}), 1e-9, 1e-12);
  };
  CHECK(is_usual(lens::patch_by_position(runs.model, runs.tokens, own, last_difference)));
  CHECK(is_usual(lens::patch_by_head(runs.model, runs.tokens, own, last_difference)));
  CHECK(is_usual(
      lens::patch_by_head_and_position(runs.model, runs.tokens, own, last_difference, "hook_k")));
  CHECK(
      is_usual(lens::patch_path(runs.model, runs.tokens, own, last_difference, {0, 1}, {{1, 2}})));
}

TEST_CASE("patching the embeddings of a position equals a run with the other token there") {
  manual_seed(2);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const Tensor by_position =
      lens::patch_by_position(runs.model, runs.tokens, runs.cache, last_difference);
  CHECK(by_position.shape() == Shape{2, 5});
  for (const std::int64_t position : {0, 3, 4}) {
    const Tensor mixed = select_scatter(runs.tokens, runs.others.select(1, position), 1, position);
    CHECK(entry(by_position, {0, position}) ==
          Approx(last_difference(runs.model(mixed)).item<double>()).epsilon(1e-9));
  }
}

TEST_CASE("patching the final stream at the last position gives the result of the other run") {
  manual_seed(3);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const Tensor all = lens::patch_by_position(runs.model, runs.tokens, runs.cache, last_difference,
                                             "hook_resid_post");
  // last_difference reads only the last position.
  CHECK(entry(all, {1, 4}) ==
        Approx(last_difference(runs.model(runs.others)).item<double>()).epsilon(1e-9));
  CHECK(entry(all, {1, 2}) == Approx(runs.usual).epsilon(1e-9));
}

TEST_CASE("patching a head equals a hook that replaces its values at all positions or at one") {
  manual_seed(4);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const std::string name = "blocks.1.attn.hook_v";
  const Tensor by_head =
      lens::patch_by_head(runs.model, runs.tokens, runs.cache, last_difference, "hook_v");
  const Tensor by_both = lens::patch_by_head_and_position(runs.model, runs.tokens, runs.cache,
                                                          last_difference, "hook_v");
  CHECK(by_head.shape() == Shape{2, 3});
  CHECK(by_both.shape() == Shape{2, 3, 5});
  const auto patched = [&](const Index& positions) {
    const Tensor logits = lens::run_with_hooks(
        runs.model, runs.tokens,
        {{name, [&](Tensor v) {
            v = v.clone();
            v.index_put_({Slice(), positions, 2}, runs.cache[name][{Slice(), positions, 2}]);
            return v;
          }}});
    return last_difference(logits).item<double>();
  };
  CHECK(entry(by_head, {1, 2}) == Approx(patched(Slice())).epsilon(1e-9));
  CHECK(entry(by_both, {1, 2, 3}) == Approx(patched(3)).epsilon(1e-9));
  CHECK(entry(by_head, {1, 2}) != Approx(runs.usual).epsilon(1e-9));
}

TEST_CASE("attributions estimate the changes of patched runs to first order") {
  manual_seed(5);
  PatchRuns runs;
  // The two runs differ so little that second-order terms are about 1e-6 of first-order ones.
  const Tensor noise = randn({1, 5, 24}, {.dtype = float64}) * 1e-6;
  {
    const NoGradGuard no_graph;
    runs.cache = lens::run_with_hooks(
                     [&] { return lens::run_with_cache(runs.model, runs.tokens); },
                     {{"blocks.0.hook_resid_pre", [&](const Tensor& x) { return x + noise; }}})
                     .cache;
  }
  const Tensor estimates =
      lens::attribute_by_head_and_position(runs.model, runs.tokens, runs.cache, last_difference);
  const Tensor changes =
      lens::patch_by_head_and_position(runs.model, runs.tokens, runs.cache, last_difference) -
      runs.usual;
  CHECK(abs(changes).sum().item<double>() > 1e-9);
  CHECK(allclose(estimates, changes, 1e-3, 1e-12));
}

TEST_CASE("a path goes only through what the receiver reads") {
  manual_seed(6);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const auto path = [&](const char* name) {
    return lens::patch_path(runs.model, runs.tokens, runs.cache, last_difference, {0, 1}, {{1, 2}},
                            name)
        .item<double>();
  };
  CHECK(path("hook_q") != Approx(runs.usual).epsilon(1e-9));
  CHECK(path("hook_k") != Approx(runs.usual).epsilon(1e-9));
  lens::W_Q(runs.model, 1).select(0, 2).zero_();
  const double usual = last_difference(runs.model(runs.tokens)).item<double>();
  CHECK(path("hook_q") == Approx(usual).epsilon(1e-9));
  CHECK(path("hook_v") != Approx(usual).epsilon(1e-9));
}

TEST_CASE("the direct path of a head of the last layer is its whole effect") {
  manual_seed(7);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const double direct =
      lens::patch_path(runs.model, runs.tokens, runs.cache, last_difference, {1, 0}).item<double>();
  const Tensor by_head = lens::patch_by_head(runs.model, runs.tokens, runs.cache, last_difference);
  CHECK(direct == Approx(entry(by_head, {1, 0})).epsilon(1e-9));
  CHECK_THROWS_AS(
      lens::patch_path(runs.model, runs.tokens, runs.cache, last_difference, {1, 0}, {{1, 1}}),
      Error);
}

TEST_CASE("replace_heads replaces only the given heads") {
  manual_seed(8);
  const PatchRuns runs;
  const NoGradGuard no_graph;
  const std::string name = "blocks.0.attn.hook_z";
  const Tensor mean = runs.cache[name].mean({0, 1}).narrow(0, 1, 1);  // (1, d_head)
  const auto run = [&] { return lens::run_with_cache(runs.model, runs.tokens, {.names = {name}}); };
  const Tensor z = lens::run_with_hooks(run, {lens::replace_heads(name, {1}, mean)}).cache[name];
  CHECK(equal(z.select(2, 1), mean.expand({1, 5, 8})));
  CHECK(equal(z.select(2, 0), run().cache[name].select(2, 0)));
  CHECK_THROWS_AS(lens::replace_heads("blocks.0.attn.hook_pattern", {1}, mean), Error);
}

TEST_CASE("a metric of several numbers and a cache of another length are refused") {
  const PatchRuns runs;
  CHECK_THROWS_AS(lens::patch_by_head(runs.model, runs.tokens, runs.cache,
                                      [](const Tensor& logits) { return logits; }),
                  ShapeError);
  CHECK_THROWS_AS(
      lens::patch_by_head(runs.model, runs.tokens.narrow(1, 0, 4), runs.cache, last_difference),
      ShapeError);
}
