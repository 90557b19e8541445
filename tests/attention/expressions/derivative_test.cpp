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
