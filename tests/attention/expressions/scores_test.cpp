#include <tend/attention/expressions/scores.h>

#include <cmath>
#include <limits>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

TEST_CASE("ALiBi has the slopes of its paper, for any number of heads") {
  const auto check = [](std::int64_t heads, const std::vector<double>& exponents) {
    const std::vector<float> slopes = scores::alibi_slopes(heads).to_vector<float>();
    REQUIRE(slopes.size() == exponents.size());
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      CHECK(slopes[i] == static_cast<float>(std::exp2(-exponents[i])));
    }
  };
  check(1, {8});
  check(8, {1, 2, 3, 4, 5, 6, 7, 8});
  check(12, {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5});
  CHECK_THROWS_AS(scores::alibi_slopes(0), ShapeError);
  CHECK_THROWS_AS(scores::alibi(0), ShapeError);
  CHECK_THROWS_WITH(scores::alibi(0), "[alibi_slopes] heads must be at least 1, got 0");
  const Tensor q = randn({1, 6, 5, 4});
  CHECK(equal(flex_attention(q, q, q, {.score = scores::alibi(6)}),
              flex_attention(q, q, q, {.score = scores::alibi(scores::alibi_slopes(6))})));
}

TEST_CASE("T5 has the buckets of Hugging Face's implementation") {
  // The distances at which buckets begin, for 16 and 32 buckets on a side and a max_distance of
  // 128. The numbers are from torch 2.6.
  const auto check = [](bool bidirectional, const std::vector<std::int64_t>& begins) {
    constexpr std::int64_t kTokens = 150;
    const std::int64_t buckets = std::ssize(begins) * (bidirectional ? 2 : 1);
    const Tensor table = arange(0, buckets, 1, {.dtype = float64}).view({-1, 1});
    const Tensor x = zeros({1, kTokens, 4}, float64);
    const Tensor found =
        flex_attention_with_heads(x, x, x, {0}, {.score = scores::t5_bias(table, bidirectional)})
            .scores[0];
    const auto bucket = [&](std::int64_t distance) {
      std::int64_t number = 0;
      while (number + 1 < std::ssize(begins) &&
             begins[static_cast<std::size_t>(number) + 1] <= distance) {
        ++number;
      }
      return number;
    };
    std::vector<double> wanted;
    for (std::int64_t query = 0; query < kTokens; ++query) {
      for (std::int64_t key = 0; key < kTokens; ++key) {
        const bool is_after = key > query;
        const std::int64_t ahead = bidirectional ? bucket(key - query) + std::ssize(begins) : 0;
        wanted.push_back(static_cast<double>(is_after ? ahead : bucket(query - key)));
      }
    }
    CHECK(equal(found.reshape({-1}), tensor(wanted).to(float64)));
  };
  check(true, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91});
  check(false, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113});
}

TEST_CASE("scores with numbers for each head refuse inputs with another number of heads") {
  const Tensor x = ones({2, 4, 3, 5}), one = ones({3, 5}), shared = ones({2, 2, 3, 5});
  const auto check = [&](const char* name, const auto& make) {
    CAPTURE(name);
    for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
      const auto run = [&](const Tensor& inputs, const ScoreFunction& score) {
        flex_attention(inputs, inputs, inputs, {.score = score, .path = path});
      };
      run(x, make(4));
      run(one, make(1));
      flex_attention(x, shared, shared, {.score = make(4), .enable_gqa = true, .path = path});
      CHECK_THROWS_WITH(run(x, make(8)), std::string("[flex_attention] ") + name +
                                             " is for 8 heads, but the weights (2, 4, 3, 3) "
                                             "have 4");
      CHECK_THROWS_AS(run(x, make(1)), ShapeError);
      CHECK_THROWS_AS(run(one, make(4)), ShapeError);
      CHECK_THROWS_AS(run(x, make(8) + scores::soft_cap(2)), ShapeError);
      run(x, [score = make(8)](const Expr& s, const Position& at) {
        return score(s, {at.batch, at.head * 2, at.query, at.key});
      });
    }
  };
  check("alibi", [](std::int64_t heads) { return scores::alibi(heads); });
  check("relative_bias", [](std::int64_t n) { return scores::relative_bias(ones({n, 5})); });
  check("t5_bias", [](std::int64_t n) { return scores::t5_bias(ones({8, n}), true); });
}

TEST_CASE("score functions refuse invalid numbers and tables") {
  CHECK_THROWS_WITH(scores::relative_bias(ones({2, 4})),
                    "[relative_bias] the table must be (heads, 2 length - 1), got (2, 4)");
  CHECK_THROWS_AS(scores::t5_bias(ones({3, 2}), true), ShapeError);  // one bucket on each side
  CHECK_THROWS_AS(scores::t5_bias(ones({1, 2}), false), ShapeError);
  CHECK_THROWS_AS(scores::t5_bias(ones({32, 2}), false, 16), Error);
  CHECK_NOTHROW(scores::t5_bias(ones({32, 2}), false, 17));
  CHECK_NOTHROW(scores::t5_bias(ones({32, 2}), false, 1 << 20));
  CHECK_THROWS_AS(scores::t5_bias(ones({32, 2}), false, (1 << 20) + 1), Error);
  for (const double cap : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK_THROWS_WITH(scores::soft_cap(cap), Catch::Matchers::StartsWith("[soft_cap] cap must be"));
}
