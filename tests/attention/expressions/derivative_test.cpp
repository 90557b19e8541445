// Gradients of score functions and of their tables.
#include <tend/attention/expressions/derivative.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/attention/functions/flex_inputs.h"
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using tend::test::check_paths;
using tend::test::flex_results;
using tend::test::FlexInputs;

TEST_CASE("gradients of tables have the same bits for every number of threads") {
  manual_seed(6);
  const FlexInputs in({3, 4}, 130, 130, float32);
  const Tensor bias = randn({4, 259}, {.requires_grad = true});
  const FlexOptions options{.score = scores::relative_bias(bias), .mask = masks::causal()};
  const int before = num_threads();
  set_num_threads(1);
  const auto one = flex_results(in, options, AttentionPath::fused, {bias});
  for (const int count : {2, 3, 8}) {
    set_num_threads(count);
    const auto many = flex_results(in, options, AttentionPath::fused, {bias});
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(equal(one[i], many[i]));
  }
  set_num_threads(before);
}

TEST_CASE("a long function has its gradient on both paths") {
  const FlexInputs in({1, 1}, 20, 20);
  const ScoreFunction longest = [](auto s, auto) {
    for (int i = 0; i < 3000; ++i) s = tanh(s) + 0.001 * i;
    return s;
  };
  check_paths(in, {.score = longest});
}

TEST_CASE("beside NaN, max and min give their whole gradient to both on either path") {
  const FlexInputs in({1, 1}, 20, 20);
  const Tensor bias = zeros({20}, float64);
  bias[{0}] = std::numeric_limits<double>::quiet_NaN();
  const attention::Lookup table = attention::lookup(bias);
  FlexOptions options;
  options.score = [&](auto score, auto at) { return max(score, table(at.key)); };
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const std::vector<Tensor> results = flex_results(in, options, path);
    CHECK(isnan(results[1].select(-2, 0)).all().item<bool>());
  }
}

TEST_CASE("the gradient of a table is summed in float64 on the composed path, too") {
  constexpr std::int64_t kQueries = 20'000;
  const Tensor q = zeros({1, 1, kQueries, 1}), k = zeros({1, 1, 2, 1});
  const Tensor v = tensor({1., 0.}, float32).view({1, 1, 2, 1});
  const Tensor bias = zeros({2}).requires_grad_();
  const attention::Lookup table = attention::lookup(bias);
  const Tensor out = flex_attention(
      q, k, v,
      {.score = [&](auto score, auto at) { return score + table((2 * at.query + at.key) % 2); },
       .path = AttentionPath::composed});
  out.backward(full({1, 1, kQueries, 1}, 0.1f));
  // Weights of a half each: 0.1 / 4 a query. One after another in float32 they miss it by 1e-4.
  CHECK(bias.grad()[0].item<double>() == Approx(kQueries * (0.1f / 4.0)).epsilon(1e-7));
}
