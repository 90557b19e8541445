// The tables that score and mask functions read, and the faults of places.
#include <tend/attention/expressions/trace.h>

#include <cstdint>

#include "tests/attention/functions/flex_inputs.h"
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;
using tend::test::FlexInputs;

TEST_CASE("a look-up outside of its table is an error where the place is visible") {
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
                      ContainsSubstring("[flex_attention] a look-up at (0, 80) in a table of shape "
                                        "(2, 80) at batch 0, head 0, query 0, key 80, which is"));
  }
  // A negative index does not count from the end; dividing by 0 is an error, too.
  const auto negative = [&](auto s, auto at) { return s + bias(at.head - 1, at.query); };
  const auto division = [&](auto s, auto at) { return s + at.query / (at.key - 3); };
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    CHECK_THROWS_WITH(flex_attention(in.query, in.key, in.value, {.score = negative, .path = path}),
                      ContainsSubstring("a look-up at (-1, 0)"));
    CHECK_THROWS_WITH(
        flex_attention(in.query, in.key, in.value, {.score = division, .path = path}),
        ContainsSubstring("a division of the index 0 by 0 at batch 0, head 0, query 0, key 3"));
  }
}

TEST_CASE("what a table has become since the function was called is checked before each use") {
  const FlexInputs in({1, 1}, 20, 20);
  Tensor table = zeros({2, 20}, {.dtype = float64});
  const Lookup read = lookup(table);
  const ScoreFunction score = [&](auto s, auto at) { return s + read(at.batch, at.key); };
  const auto run = [&](AttentionPath path) {
    return flex_attention(in.query, in.key, in.value,
                          {.score = score, .dropout_p = 0.5, .path = path});
  };
  const Generator before = get_rng_state();
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    table.set_data(zeros({20}, {.dtype = float64}));
    CHECK_THROWS_AS(run(path), ShapeError);
    table.set_data(zeros({2, 20}, int64));
    CHECK_THROWS_AS(run(path), DTypeError);
    table.set_data(zeros({2, 20}, float32));  // another floating dtype is converted
    CHECK_NOTHROW(run(path));
    set_rng_state(before);
  }
  Tensor documents = arange(0, 20, 1, {.dtype = int64});
  const MaskFunction mask = masks::documents(documents);
  documents.mul_(std::int64_t{1} << 40);
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    CHECK_THROWS_AS(
        flex_attention(in.query, in.key, in.value, {.mask = mask, .dropout_p = 0.5, .path = path}),
        DTypeError);
  }
  CHECK(get_rng_state() == before);
}

TEST_CASE("a table may have no dimension, and without elements no place is in it") {
  const Lookup number = lookup(tensor(12)), none = lookup(zeros({0}, int64));
  const FlexInputs in({1, 1}, 20, 20);
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const auto run = [&](const MaskFunction& mask) {
      return flex_attention(in.query, in.key, in.value, {.mask = mask, .path = path});
    };
    CHECK_THROWS_AS(run([&](auto at) { return none(at.key) == 0; }), IndexError);
    CHECK(equal(run([&](auto at) { return at.key < number(); }),
                run([](auto at) { return at.key < 12; })));
  }
}

TEST_CASE("a table of truths is false outside, which hides the place or is an error") {
  const Lookup truths = lookup(arange(16) % 3 != 0);
  const FlexInputs in({1, 1}, 20, 150);  // more keys than a tile has
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const auto run = [&](const MaskFunction& mask) {
      return flex_attention(in.query, in.key, in.value, {.mask = mask, .path = path});
    };
    const auto is_inside = [](auto at) { return at.key >= 1 && at.key < 17; };
    CHECK(equal(run([&](auto at) { return truths(at.key - 1); }),
                run([&](auto at) { return is_inside(at) && (at.key - 1) % 3 != 0; })));
    CHECK_THROWS_AS(run([&](auto at) { return !truths(at.key - 1); }), IndexError);
  }
}

TEST_CASE("faults of no place, of hidden places and of what is not used are none") {
  const Lookup small = lookup(tensor({0, 1}));
  const FlexInputs in({1, 1}, 20, 20), empty({2, 3}, 20, 0);
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const auto run = [&](const FlexInputs& inputs, const FlexOptions& options) {
      FlexOptions own = options;
      own.path = path;
      return flex_attention(inputs.query, inputs.key, inputs.value, own);
    };
    CHECK_NOTHROW(run(in, {.mask = [](auto at) { return at.key / Expr(0) == 1; }}));
    CHECK_THROWS_AS(run(in, {.mask = [](auto at) { return at.key / Expr(0) == 0; }}), IndexError);
    CHECK_NOTHROW(run(empty, {.mask = [&](auto at) { return small(at.query) >= 0; }}));
    CHECK_NOTHROW(run(in, {.score = [&](auto s, auto at) {
                        static_cast<void>(small(at.key));
                        return s;
                      }}));
    CHECK_THROWS_AS(run(FlexInputs({1, 1}, 20, 20, float32),
                        {.score = [](auto s, auto) { return min(s, 1e300); }}),
                    DTypeError);
    const Tensor q = zeros({2, 0, 4, 8}), k = zeros({2, 1, 4, 8});
    CHECK(flex_attention(q, k, k, {.mask = masks::causal(), .enable_gqa = true, .path = path})
              .shape() == Shape{2, 0, 4, 8});
    const Tensor flat = zeros({2, 3, 20, 0});
    CHECK_THROWS_AS(
        flex_attention(
            flat, flat, ones({2, 3, 20, 4}),
            {.mask = [&](auto at) { return small(at.key) >= 0; }, .scale = 1, .path = path}),
        IndexError);
  }
}

TEST_CASE("a graph does not keep itself by the sizes of its functions' tables") {
  const Tensor w = zeros({2, 39}).requires_grad_();
  const auto make = [&] {
    const Tensor table = w * 1;
    const Tensor x = ones({1, 2, 20, 8});
    const Tensor out = flex_attention(x, x, x, {.score = attention::scores::relative_bias(table)});
    table.add_(out.sum());
  };
  make();
  const std::int64_t before = live_memory();
  make();
  CHECK(live_memory() == before);
}
