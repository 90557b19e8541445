#include <tend/attention/expressions/masks.h>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("ready-made masks compute their formulas on both paths") {
  manual_seed(2);
  const auto make = [] { return randn({2, 2, 150, 8}, float64); };
  const Tensor query = make(), key = make(), value = make();
  const Tensor q = arange(0, 150, 1, {.dtype = int64}).view({-1, 1}), k = q.view({1, -1});
  const Tensor documents = cat({full({60}, 0, int64), full({50}, 1, int64), full({40}, 2, int64)});
  const Tensor lengths = tensor({150, 37});
  const auto check = [&](const MaskFunction& function, const Tensor& mask) {
    const Tensor wanted = scaled_dot_product_attention(query, key, value, {.attn_mask = mask});
    for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
      const Tensor found = flex_attention(query, key, value, {.mask = function, .path = path});
      CHECK(allclose(found, wanted, 1e-13, 1e-13));  // the same sums, up to some roundings
    }
  };
  check(masks::causal(), k <= q);
  check(masks::causal_bottom_right(150, 150), k <= q);
  check(masks::sliding_window(20), logical_and(k <= q, q - k < 20));
  check(masks::prefix(80), logical_or(k <= q, k < 80));
  check(masks::documents(documents), documents.view({-1, 1}) == documents);
  check(masks::blocks(32), floor_divide(q, 32) == floor_divide(k, 32));
  check(masks::blocks(std::int64_t{1} << 40), q == q);
  check(masks::dilated(3), remainder(q - k, 3) == 0);
  check(masks::padding(lengths), k < lengths.view({2, 1, 1, 1}));
  check(!masks::causal() || masks::dilated(5), logical_or(k > q, remainder(q - k, 5) == 0));
  check(masks::documents(documents) && masks::causal(),
        logical_and(documents.view({-1, 1}) == documents, k <= q));
  check([](auto at) { return (at.key <= at.query) & ~(at.query - at.key >= 20); },
        logical_and(k <= q, q - k < 20));
  check([](auto at) { return ((at.key < 9) ^ (at.query > 70)) | (at.key == at.query); },
        logical_or((k < 9) ^ (q > 70), k == q));
  const auto is_near = [](auto at) { return abs(at.query - at.key) < 20; };
  const auto is_first = [](auto at) { return at.key < 4; };
  const Tensor near = abs(q - k) < 20, first = (k < 4).expand({150, 150});
  check(and_masks(is_near), near);
  check(and_masks(is_near, is_first), logical_and(near, first));
  check(or_masks(is_near, is_first, masks::causal()), logical_or(logical_or(near, first), k <= q));
  CHECK(equal(masks::document_positions(tensor({5, 5, 2, 2, 2, 5})), tensor({0, 1, 0, 1, 2, 0})));
}

TEST_CASE("masks with numbers for each batch refuse inputs with another number of batches") {
  const Tensor x = ones({2, 3, 4, 5}), one = ones({3, 4, 5}), several = ones({2, 1, 3, 4, 5});
  const auto check = [&](const char* name, const auto& make) {
    CAPTURE(name);
    for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
      const auto run = [&](const Tensor& inputs, const MaskFunction& mask) {
        flex_attention(inputs, inputs, inputs, {.mask = mask, .path = path});
      };
      run(x, make(2));
      run(several, make(2));
      run(one, make(1));
      CHECK_THROWS_WITH(run(x, make(3)), std::string("[flex_attention] ") + name +
                                             " is for 3 batches, but the weights (2, 3, 4, 4) "
                                             "have 2");
      CHECK_THROWS_AS(run(x, make(1)), ShapeError);
      CHECK_THROWS_AS(run(one, make(2)), ShapeError);
      // The check also applies to joined masks, but not if a function chooses the batch itself.
      CHECK_THROWS_AS(run(x, masks::causal() && !make(3)), ShapeError);
      run(x, [mask = make(3)](const Position& at) {
        return mask({at.batch + 1, at.head, at.query, at.key});
      });
    }
  };
  check("padding", [](std::int64_t n) { return masks::padding(full({n}, 2, int64)); });
  check("prefix", [](std::int64_t n) { return masks::prefix(full({n}, 2, int64)); });
  check("documents", [](std::int64_t n) { return masks::documents(zeros({n, 4}, int64)); });
}

TEST_CASE("masks refuse invalid sizes but accept a window or prefix that is larger than int32") {
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  CHECK_THROWS_WITH(masks::causal_bottom_right(-1, 5),
                    "[causal_bottom_right] sizes must not be negative, got -1 queries and 5 keys");
  CHECK_THROWS_AS(masks::causal_bottom_right(5, -1), ShapeError);
  CHECK_THROWS_AS(masks::causal_bottom_right(8, kLarge), Error);
  CHECK_THROWS_AS(masks::dilated(kLarge), Error);
  CHECK_THROWS_AS(masks::dilated(0), Error);
  manual_seed(3);
  const Tensor x = randn({2, 1, 6, 4}, float64);
  const auto run = [&](const MaskFunction& mask) {
    return flex_attention(x, x, x, {.mask = mask});
  };
  CHECK(equal(run(masks::causal_bottom_right(kLarge, kLarge)), run(masks::causal())));
  CHECK(equal(run(masks::sliding_window(kLarge)), run(masks::causal())));
  CHECK(equal(run(masks::prefix(kLarge)), run({})));
  CHECK(equal(run(masks::prefix(-kLarge)), run(masks::causal())));
  for (const auto& make :
       {masks::padding, static_cast<MaskFunction (*)(const Tensor&)>(masks::prefix)}) {
    CHECK_THROWS_AS(run(make(tensor({std::int64_t{3}, kLarge}))), DTypeError);
  }
  CHECK_THROWS_AS(run(masks::documents(full({6}, kLarge, int64))), DTypeError);
}

TEST_CASE("masks refuse tables of another dtype or rank") {
  CHECK_THROWS_AS(masks::padding(ones({2})), DTypeError);
  CHECK_THROWS_AS(masks::padding(ones({2, 1}, int64)), ShapeError);
  CHECK_THROWS_AS(masks::prefix(ones({2, 1}, int64)), ShapeError);
  CHECK_THROWS_AS(masks::documents(ones({2, 4})), DTypeError);
}

TEST_CASE("masks of documents refuse fewer numbers than there are queries or keys") {
  const Tensor q = randn({1, 1, 4, 8}), k = randn({1, 1, 6, 8});
  CHECK_THROWS_AS(flex_attention(q, k, k, {.mask = masks::documents(ones({4}, int64))}),
                  IndexError);
  CHECK_THROWS_WITH(flex_attention(k, q, q, {.mask = masks::documents(ones({1, 4}, int64))}),
                    ContainsSubstring("documents is for at most 4 tokens, but the weights "
                                      "(1, 1, 6, 4) have 6 queries"));
  CHECK(flex_attention(q, k, k, {.mask = masks::documents(ones({9}, int64))}).shape() ==
        Shape{1, 1, 4, 8});
}
