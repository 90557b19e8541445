#include <tend/attention/expressions/functions.h>

#include <limits>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

TEST_CASE("with_offset gives queries after cached keys the results of the whole sequence") {
  manual_seed(3);
  constexpr std::int64_t kHeads = 2, kTokens = 90;
  const Shape shape{3, kHeads, kTokens, 8};
  const Tensor q = randn(shape, float64), k = randn(shape, float64), v = randn(shape, float64);
  const Tensor lengths = tensor({90, 40, 71}), documents = arange(kTokens) / 33;
  const Tensor table = randn({kHeads, 2 * kTokens - 1}, float64),
               buckets = randn({8, kHeads}, float64);
  const std::vector<ScoreFunction> score_functions = {
      scores::alibi(kHeads), scores::relative_bias(table), scores::t5_bias(buckets, true, 64),
      scores::t5_bias(buckets, false) + scores::soft_cap(2)};
  const std::vector<MaskFunction> mask_functions = {
      masks::causal(),         masks::causal() && masks::sliding_window(7),
      masks::prefix(50),       masks::documents(documents.to(int64)),
      masks::padding(lengths), masks::blocks(20),
      !masks::dilated(3)};
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    for (std::size_t s = 0; s < score_functions.size(); ++s) {
      for (std::size_t m = 0; m < mask_functions.size(); ++m) {
        const auto& score = score_functions[s];
        const auto& mask = mask_functions[m];
        const Tensor whole = flex_attention(q, k, v, {.score = score, .mask = mask, .path = path});
        for (const std::int64_t first : {1, 33, 89}) {
          CAPTURE(s, m, first);
          const std::int64_t queries = kTokens - first;
          const Tensor found = flex_attention(
              q.narrow(2, first, queries), k, v,
              {.score = with_offset(score, first), .mask = with_offset(mask, first), .path = path});
          // Both sum the same terms, but in other orders: about a hundred roundings of 1.
          CHECK(allclose(found, whole.narrow(2, first, queries), 5e-14, 5e-14));
        }
      }
    }
  }
}

namespace {

Expr halved(const Expr& score, const Position&) {
  return score * 0.5;
}
Expr is_before(const Position& at) {
  return at.query >= at.key;
}

}  // namespace

TEST_CASE("plain functions can be score and mask functions") {
  manual_seed(5);
  const Tensor x = randn({1, 1, 4, 2});
  CHECK(
      equal(flex_attention(x, x, x, {.score = halved, .mask = is_before}),
            flex_attention(x, x, x,
                           {.score = [](const Expr& score, const Position&) { return score * 0.5; },
                            .mask = masks::causal()})));
}
