// Look-ups outside of their tables, and divisions by 0.
#include <tend/attention/expressions/trace.h>

#include <cstdint>

#include "tests/attention/functions/flex_inputs.h"
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;
using tend::test::FlexInputs;

TEST_CASE("a look-up outside of its table is an error at a visible position") {
  manual_seed(4);
  const FlexInputs in({2, 3}, 70, 90);
  const Tensor table = randn({2, 80}, {.dtype = float64});
  const Lookup bias = lookup(table);
  const auto run = [&](AttentionPath path, std::int64_t end) {
    return flex_attention(in.query, in.key, in.value,
                          {.score = [&](auto s, auto at) { return s + bias(at.head, at.key); },
                           .mask = [&](auto at) { return at.key < end && at.head < 2; },
                           .dropout_p = 0.2,
                           .path = path});
  };
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    CHECK_NOTHROW(run(path, 80));
    CHECK_THROWS_AS(run(path, 81), IndexError);
    CHECK_THROWS_WITH(run(path, 85),
                      ContainsSubstring("[flex_attention] a look-up at (0, 80) is outside of its "
                                        "table of shape (2, 80), at batch 0, head 0, query 0, "
                                        "key 80, which is"));
  }
  // A negative index does not count from the end. Dividing by 0 is an error, too.
  const auto negative = [&](auto s, auto at) { return s + bias(at.head - 1, at.query); };
  const auto division = [&](auto s, auto at) { return s + at.query / (at.key - 3); };
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    CHECK_THROWS_WITH(flex_attention(in.query, in.key, in.value, {.score = negative, .path = path}),
                      ContainsSubstring("a look-up at (-1, 0)"));
    CHECK_THROWS_WITH(
        flex_attention(in.query, in.key, in.value, {.score = division, .path = path}),
        ContainsSubstring("the index 0 is divided by 0, at batch 0, head 0, query 0, key 3"));
  }
}
