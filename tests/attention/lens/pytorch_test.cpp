// Compares with tests/data/lens.json: the results of TransformerLens's functions for a small GPT,
// which tests/data/make_lens.py computes.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

using nlohmann::json;

const json& stored_lens() {
  static const json data = json::parse(std::ifstream(TEND_TEST_DATA "/lens.json"));
  return data;
}

// make_lens.py has the same function.
Tensor lens_pattern(const Shape& shape, double seed, double scale = 1) {
  const Tensor numbers = arange(element_count(shape)).to(float64);
  return (sin(numbers * 0.7 + 1.9 * seed) * scale).view(shape);
}

GPT stored_model() {
  GPT model({.vocab_size = 11,
             .context_length = 8,
             .width = 8,
             .num_heads = 2,
             .num_layers = 2,
             .qkv_bias = true});
  model.to(float64);
  const NoGradGuard no_graph;
  std::map<std::string, Tensor> sorted;
  for (const auto& [name, parameter] : model.named_parameters()) sorted.emplace(name, parameter);
  double seed = 10;
  for (const auto& [name, parameter] : sorted) {
    parameter.copy_(lens_pattern(parameter.shape(), seed++, 0.6));
  }
  return model;
}

struct StoredRuns {
  GPT model = stored_model();
  Tensor tokens = tensor({{3, 1, 4, 3, 1, 4}, {2, 7, 2, 7, 1, 8}});
  Tensor others = tensor({{9, 1, 4, 9, 1, 4}, {2, 7, 5, 7, 1, 0}});
  Tensor logits;
  lens::ActivationCache cache;

  StoredRuns() {
    const NoGradGuard no_graph;
    auto run =
        lens::run_with_cache(model, tokens, {.filter = [](const std::string&) { return true; }});
    logits = run.result;
    cache = std::move(run.cache);
  }
};

void flatten_numbers(std::vector<double>& all, const json& numbers) {
  if (!numbers.is_array()) return all.push_back(numbers.get<double>());
  for (const json& each : numbers) flatten_numbers(all, each);
}

// Another order of summation changes numbers by about 1e-14.
void check_stored(const Tensor& x, const json& wanted) {
  std::vector<double> all;
  flatten_numbers(all, wanted);
  REQUIRE(x.numel() == std::ssize(all));
  CHECK(allclose(x.to(float64).reshape({-1}), tensor(all, float64), 1e-9, 1e-11));
}

Tensor sum_of_differences(const Tensor& logits) {
  const Tensor last = logits.select(1, -1);
  return (last.select(1, 4) - last.select(1, 7)).sum();
}

}  // namespace

TEST_CASE("all activations of a small GPT equal PyTorch's") {
  const StoredRuns runs;
  check_stored(runs.logits, stored_lens()["logits"]);
  CHECK(runs.cache.size() == std::ssize(stored_lens()["cache"]));
  for (const auto& [name, x] : runs.cache) {
    CAPTURE(name);
    const Tensor finite = masked_fill(x, x == -INFINITY, 0);
    check_stored((finite * lens_pattern(x.shape(), 7)).sum(), stored_lens()["cache"].at(name));
  }
}

TEST_CASE("attributions and compositions and scores equal TransformerLens's") {
  const StoredRuns runs;
  const NoGradGuard no_graph;
  const lens::Parts parts = lens::parts_by_head(runs.model, runs.cache);
  check_stored(lens::logit_attribution(runs.model, runs.cache, parts, runs.tokens),
               stored_lens()["attribution"]);
  for (const char* kind : {"Q", "K", "V"})
    check_stored(lens::composition_scores(runs.model, kind), stored_lens()["composition"][kind]);
  for (const std::size_t layer : {0U, 1U}) {
    const Tensor p = runs.cache["blocks." + std::to_string(layer) + ".attn.hook_pattern"];
    check_stored(lens::previous_token_score(p), stored_lens()["previous_token"][layer]);
  }
}

TEST_CASE("the results of patched runs equal TransformerLens's") {
  const StoredRuns runs;
  check_stored(lens::patch_by_position(runs.model, runs.others, runs.cache, sum_of_differences),
               stored_lens()["by_position"]);
  check_stored(lens::patch_by_head(runs.model, runs.others, runs.cache, sum_of_differences),
               stored_lens()["by_head"]);
  check_stored(lens::patch_by_head_and_position(runs.model, runs.others, runs.cache,
                                                sum_of_differences, "hook_v"),
               stored_lens()["by_head_and_position"]);
}
