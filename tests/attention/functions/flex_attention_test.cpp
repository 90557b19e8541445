// Attention with score and mask functions.
#include <tend/attention/functions/flex_attention.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/attention/functions/flex_inputs.h"
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;
using tend::test::check_paths;
using tend::test::flex_results;
using tend::test::flex_tolerance;
using tend::test::FlexInputs;

namespace {

// Creates random functions. A function depends only on the seed.
class RandomFunction {
 public:
  RandomFunction(unsigned seed, const std::vector<Tensor>& reals, const Tensor& indices,
                 const Tensor& truths)
      : engine_(seed), indices_(lookup(indices)), truths_(lookup(truths)) {
    for (const Tensor& each : reals) reals_.push_back(lookup(each));
  }

  Expr score(const Expr& s, const Position& at) {
    score_ = &s;
    return s + real(at, 4);
  }
  Expr mask(const Position& at) {
    score_ = nullptr;
    // Nearly every query sees some keys. Some tiles are empty, and some are full.
    return truth(at, 3) && (at.query - at.key < draw(150) + 20 || index(at, 2) == 0);
  }

 private:
  int draw(int end) { return static_cast<int>(engine_() % static_cast<unsigned>(end)); }

  Expr index(const Position& at, int depth) {
    if (depth == 0) {
      switch (draw(6)) {
        case 0: return at.batch;
        case 1: return at.head;
        case 2: return at.query;
        case 3: return at.key;
        case 4: return draw(200) - 100;
        default: return indices_(at.key);
      }
    }
    const Expr a = index(at, depth - 1), b = index(at, draw(depth));
    switch (draw(10)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * b;
      case 3: return a / (1 + abs(b) % 9);
      case 4: return a % (draw(9) + 1);
      case 5: return min(a, b);
      case 6: return max(a, b);
      case 7: return -a;
      case 8: return indices_(abs(a) % 140);
      default: return where(truth(at, depth - 1), a, b);
    }
  }

  Expr truth(const Position& at, int depth) {
    if (depth == 0) return draw(2) == 0 ? truths_(at.query, at.key) : at.key <= at.query;
    switch (draw(8)) {
      case 0: return truth(at, depth - 1) && truth(at, depth - 1);
      case 1: return truth(at, depth - 1) || truth(at, depth - 1);
      case 2: return !truth(at, depth - 1);
      case 3: return index(at, depth - 1) <= index(at, depth - 1);
      case 4: return index(at, depth - 1) != index(at, depth - 1);
      case 5: return index(at, depth - 1) > draw(100);
      case 6: return where(truth(at, 0), truth(at, depth - 1), truth(at, 0)) == truth(at, 0);
      default: return real(at, depth - 1) < 0.3;
    }
  }

  // Real numbers of moderate size, away from the points where functions have no derivative.
  Expr real(const Position& at, int depth) {
    if (depth == 0) {
      switch (draw(4)) {
        case 0: return score_ ? *score_ : Expr(0.7);
        case 1: return reals_[0](at.head);
        case 2: return reals_[1](at.head, at.query);
        default: return reals_[2](at.query, at.key);
      }
    }
    const Expr a = real(at, depth - 1), b = real(at, draw(depth));
    switch (draw(12)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return tanh(a) * b;
      case 3: return a / (1.5 + abs(b));
      case 4: return min(a, b + 0.01);
      case 5: return max(a, b + 0.01);
      case 6: return -a;
      case 7: return exp(min(a, 1.0));
      case 8: return log(1.5 + abs(a));
      case 9: return tanh(a);
      case 10: return a + 0.01 * (index(at, depth - 1) % 50);
      default: return where(truth(at, depth - 1), a, b);
    }
  }

  std::mt19937 engine_;
  std::vector<Lookup> reals_;
  Lookup indices_, truths_;
  const Expr* score_ = nullptr;
};

}  // namespace

TEST_CASE("random score and mask functions and their gradients agree on both paths") {
  manual_seed(1);
  int hidden = 0, visible = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const DType dtype = seed % 4 == 3 ? float32 : float64;
    const FlexInputs in({2, 3}, 70, 140, dtype);
    const auto real = [&](const Shape& shape) {
      return randn(shape, {.dtype = dtype, .requires_grad = true});
    };
    const std::vector<Tensor> tables{real({3}), real({3, 70}), real({70, 140})};
    const Tensor indices = randint(-5, 70, Shape{140}), truths = rand({70, 140}) < 0.9;
    RandomFunction score(seed, tables, indices, truths), mask(seed + 1000, tables, indices, truths);
    FlexOptions options{
        .score = [&](const Expr& s, const Position& at) { return score.score(s, at); },
        .mask = [&](const Position& at) { return mask.mask(at); },
        .dropout_p = seed % 3 == 0 ? 0.3 : 0.0};
    check_paths(in, options, tables);
    options.dropout_p = 0;  // dropout would set weights to zero, too
    const Tensor weights = flex_attention_with_weights(in.query, in.key, in.value, options).weights;
    hidden += (weights == 0).any().item<bool>() ? 1 : 0;
    visible += (weights != 0).any().item<bool>() ? 1 : 0;
  }
  CHECK(hidden > 30);
  CHECK(visible > 30);
}

TEST_CASE("NaN scores at hidden positions do not change gradients of any order") {
  manual_seed(8);
  const FlexInputs in({2, 2}, 6, 6);
  const Tensor bias = randn({6}, {.dtype = float64, .requires_grad = true});
  // At hidden keys, the logarithm is -inf or NaN. If `finite` is true, it is log(1) there.
  const auto score = [&](bool finite) {
    return ScoreFunction([&](auto s, auto at) {
      const auto back = at.query - at.key;
      return (s + lookup(bias)(at.key)) * log((finite ? max(back, 0) : back) + 1);
    });
  };
  const auto results = [&](bool finite, AttentionPath path) {
    const FlexOptions options{.score = score(finite), .mask = masks::causal(), .path = path};
    const std::vector<Tensor> inputs{in.query, in.key, in.value, bias};
    const Tensor out = flex_attention(in.query, in.key, in.value, options);
    std::vector<Tensor> all =
        autograd::grad({(out * out).sum()}, inputs, {}, {.create_graph = true});
    Tensor sum = zeros({}, float64);
    for (const Tensor& each : all) sum = sum + (each * each).sum();
    for (const Tensor& each : autograd::grad({sum}, inputs)) all.push_back(each);
    // Without create_graph, the two paths compute gradients in different ways.
    const Tensor again = flex_attention(in.query, in.key, in.value, options);
    for (const Tensor& each : autograd::grad({(again * again).sum()}, inputs)) all.push_back(each);
    const HeadDetails heads = flex_attention_with_heads(in.query, in.key, in.value, {1}, options);
    for (const Tensor& each :
         autograd::grad({(heads.weights * heads.weights).sum()}, {in.query, in.key, bias})) {
      all.push_back(each);
    }
    return all;
  };
  const std::vector<Tensor> wanted = results(true, AttentionPath::composed);
  for (const AttentionPath path : {AttentionPath::fused, AttentionPath::composed}) {
    const std::vector<Tensor> found = results(false, path);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i, path == AttentionPath::fused);
      CHECK(allclose(found[i], wanted[i], 1e-10, 1e-10));  // about a hundred roundings
    }
  }
}

TEST_CASE("changing a captured tensor after the forward is an error in the backward") {
  const FlexInputs in({1, 2}, 40, 40);
  Tensor slopes = rand({2}, {.dtype = float64});
  const Tensor out = flex_attention(in.query, in.key, in.value,
                                    {.score = scores::alibi(slopes), .path = AttentionPath::fused});
  slopes.mul_(2);
  CHECK_THROWS_AS(out.sum().backward(), AutogradError);
}

TEST_CASE("heads that share keys and values agree with heads that have repeated ones") {
  manual_seed(7);
  for (const DType dtype : {float64, float32}) {
    const auto make = [&](const Shape& shape) {
      return randn(shape, {.dtype = dtype, .requires_grad = true});
    };
    const Tensor q = make({2, 6, 70, 8}), k = make({2, 2, 90, 8}), v = make({2, 2, 90, 8});
    const Tensor slopes = rand({6}, {.dtype = dtype, .requires_grad = true});
    const Tensor cotangent = randn({2, 6, 70, 8}, {.dtype = dtype});
    const auto run = [&](AttentionPath path, bool shared) {
      const Tensor keys = shared ? k : repeat_interleave(k, 3, 1);
      const Tensor values = shared ? v : repeat_interleave(v, 3, 1);
      const Tensor out = flex_attention(q, keys, values,
                                        {.score = scores::alibi(slopes),
                                         .mask = masks::sliding_window(50),
                                         .enable_gqa = shared,
                                         .path = path});
      auto all = autograd::grad({out}, {q, k, v, slopes}, {cotangent});
      all.push_back(out.detach());
      return all;
    };
    const auto wanted = run(AttentionPath::composed, false);
    for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
      const auto found = run(path, true);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(allclose(found[i], wanted[i], flex_tolerance(dtype), flex_tolerance(dtype)));
      }
    }
  }
}

TEST_CASE("some heads have the same weights and scores and logsumexp as in a run of all heads") {
  manual_seed(8);
  const auto make = [](const Shape& shape) {
    return randn(shape, {.dtype = float64, .requires_grad = true});
  };
  const Tensor q = make({2, 6, 70, 8}), k = make({1, 3, 70, 8}), v = make({2, 3, 70, 5});
  const Tensor slopes = make({6});
  const std::vector<std::int64_t> heads{4, 1};
  CHECK(flex_attention_with_heads(q, q, q, {}).weights.shape() == Shape{2, 0, 70, 70});
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const FlexOptions options{.score = scores::alibi(slopes),
                              .mask = masks::sliding_window(30) && !masks::dilated(7),
                              .dropout_p = 0.3,
                              .enable_gqa = true,
                              .path = path};
    manual_seed(9);
    const HeadDetails some = flex_attention_with_heads(q, k, v, heads, options);
    const Generator after = get_rng_state();
    manual_seed(9);
    CHECK(equal(some.context, flex_attention(q, k, v, options)));
    CHECK(get_rng_state() == after);
    manual_seed(9);
    FlexOptions composed = options;
    composed.path = AttentionPath::composed;
    const Tensor all =
        index_select(flex_attention_with_weights(q, k, v, composed).weights, 1, tensor(heads));
    CHECK(allclose(some.weights, all, 1e-13, 1e-13));  // sums in nearly the same order
    const Tensor place = arange(0, 70, 1, {.dtype = int64}), behind = place.view({-1, 1}) - place;
    const Tensor keys = repeat_interleave(k, 2, 1);
    const Tensor wanted =
        matmul(q, keys.transpose(-2, -1)) / std::sqrt(8.0) - slopes.view({6, 1, 1}) * behind.abs();
    CHECK(allclose(some.scores, index_select(wanted, 1, tensor(heads)), 1e-12, 1e-12));
    const Tensor hidden =
        logical_or(logical_or(behind < 0, behind >= 30), remainder(behind, 7) == 0);
    const Tensor sums =
        logsumexp(masked_fill(some.scores, hidden, -std::numeric_limits<double>::infinity()), {-1});
    CHECK(allclose(some.log_sum_exp, sums, 1e-12, 1e-12));
    // The first query sees nothing: there is no earlier key, and its own key is hidden.
    CHECK((some.log_sum_exp.select(-1, 0) == -std::numeric_limits<double>::infinity())
              .all()
              .item<bool>());
    const Tensor cotangent = randn(all.shape(), {.dtype = float64});
    const auto found = autograd::grad({some.weights}, {q, k, slopes}, {cotangent});
    const auto expected = autograd::grad({all}, {q, k, slopes}, {cotangent});
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(allclose(found[i], expected[i], 1e-11, 1e-11));
    }
    CHECK_THROWS_WITH(flex_attention_with_heads(q, k, v, {6}, options),
                      ContainsSubstring("there is no head 6 in weights of shape"));
    CHECK_THROWS_AS(flex_attention_with_heads(q, k, v, {-1}, options), IndexError);
    CHECK_THROWS_AS(flex_attention_with_heads(q[0][0], q[0][0], q[0][0], {0}), ShapeError);
  }
}

TEST_CASE("hidden keys that are NaN do not change the result if all values are finite") {
  manual_seed(3);
  FlexInputs in({1, 1}, 100, 100);
  const NoGradGuard no_graph;
  const FlexOptions options{.mask = masks::causal(), .path = AttentionPath::fused};
  const Tensor before = flex_attention(in.query, in.key, in.value, options);
  in.key.narrow(2, 80, 20).fill_(std::nan(""));
  const Tensor after = flex_attention(in.query, in.key, in.value, options);
  CHECK(equal(after.narrow(2, 0, 80), before.narrow(2, 0, 80)));
  CHECK(isnan(after.narrow(2, 80, 20)).all().item<bool>());
}
