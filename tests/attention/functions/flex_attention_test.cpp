// Attention with scores and masks that are functions of their place.
#include <tend/attention/functions/flex_attention.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;

namespace {

struct FlexInputs {
  Tensor query, key, value;

  FlexInputs(const Shape& heads, std::int64_t queries, std::int64_t keys, DType dtype = float64) {
    const auto make = [&](std::int64_t rows, std::int64_t columns) {
      Shape shape = heads;
      shape.push_back(rows);
      shape.push_back(columns);
      return randn(shape, {.dtype = dtype, .requires_grad = true});
    };
    query = make(queries, 8);
    key = make(keys, 8);
    value = make(keys, 5);
  }
};

// The result, and the gradients of query, key, value and tables.
std::vector<Tensor> flex_results(const FlexInputs& in, FlexOptions options, AttentionPath path,
                                 const std::vector<Tensor>& tables = {}) {
  options.path = path;
  manual_seed(3);
  const Tensor out = flex_attention(in.query, in.key, in.value, options);
  manual_seed(4);
  const Tensor cotangent = randn(out.shape(), out.dtype());
  std::vector<Tensor> inputs{in.query, in.key, in.value};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  std::vector<Tensor> all = autograd::grad({out}, inputs, {cotangent}, {.allow_unused = true});
  // One path leaves out the tables that only conditions read, the other gives zeros.
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) all[i] = zeros_like(inputs[i]);
  }
  all.push_back(out.detach());
  return all;
}

// Sums of up to some hundred terms of size 1, each rounded a few times: some hundred roundings. The
// gradients of tables are sums of up to some ten thousand.
double flex_tolerance(DType dtype) {
  return dtype == float64 ? 2e-12 : 2e-4;
}

void check_paths(const FlexInputs& in, const FlexOptions& options,
                 const std::vector<Tensor>& tables = {}) {
  const auto composed = flex_results(in, options, AttentionPath::composed, tables);
  const auto fused = flex_results(in, options, AttentionPath::fused, tables);
  const double within = flex_tolerance(in.query.dtype());
  for (std::size_t i = 0; i < composed.size(); ++i) {
    CAPTURE(i, in.query.shape(), in.key.shape());
    CHECK(fused[i].shape() == composed[i].shape());
    CHECK(allclose(fused[i], composed[i], within, within));
  }
}

// Draws functions: what it gives is a function of its seed alone.
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
    // Each query sees something at most places, and tiles are empty and full now and then.
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

  // Numbers of moderate size, and off the places where functions have no derivative.
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

TEST_CASE("random score and mask functions agree on both paths, with their gradients") {
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
    const FlexOptions options{
        .score = [&](const Expr& s, const Position& at) { return score.score(s, at); },
        .mask = [&](const Position& at) { return mask.mask(at); },
        .dropout_p = seed % 3 == 0 ? 0.3 : 0.0};
    check_paths(in, options, tables);
    const Tensor weights = flex_attention_with_weights(in.query, in.key, in.value, options).weights;
    hidden += (weights == 0).any().item<bool>() ? 1 : 0;
    visible += (weights != 0).any().item<bool>() ? 1 : 0;
  }
  CHECK(hidden > 30);
  CHECK(visible > 30);
}

TEST_CASE("hidden keys of any value leave the result alone where their values are finite") {
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

TEST_CASE("scores without a number at hidden places leave gradients of any order alone") {
  manual_seed(8);
  const FlexInputs in({2, 2}, 6, 6);
  const Tensor bias = randn({6}, {.dtype = float64, .requires_grad = true});
  // The logarithm of 0 or less, and of 1, where keys are hidden.
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
    // Without create_graph, where the paths differ.
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
      CHECK(allclose(found[i], wanted[i], 1e-10, 1e-10));  // some hundred roundings
    }
  }
}

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
    const Generator before = get_rng_state();
    CHECK_THROWS_AS(run(path, 81), IndexError);
    CHECK(get_rng_state() == before);
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

TEST_CASE("a captured tensor that changed since the forward is an error in the backward") {
  const FlexInputs in({1, 2}, 40, 40);
  Tensor slopes = rand({2}, {.dtype = float64});
  const Tensor out = flex_attention(in.query, in.key, in.value,
                                    {.score = scores::alibi(slopes), .path = AttentionPath::fused});
  slopes.mul_(2);
  CHECK_THROWS_AS(out.sum().backward(), AutogradError);
}

TEST_CASE("an attention whose query, key and value are one tensor has one gradient, to any order") {
  manual_seed(5);
  const Tensor x = randn({2, 20, 6}, {.dtype = float64, .requires_grad = true});
  const Tensor bias = randn({2, 39}, {.dtype = float64, .requires_grad = true});
  const auto run = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{
        flex_attention(in[0], in[0], in[0],
                       {.score = scores::relative_bias(in[1]) + scores::soft_cap(3),
                        .mask = masks::causal(),
                        .path = AttentionPath::fused})};
  };
  CHECK(gradcheck(run, {x, bias}).passed);
  CHECK(gradgradcheck(run, {x, bias}).passed);
}

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

TEST_CASE("heads that share keys and values agree with repeated ones") {
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

TEST_CASE("a function in another gets numbers of its types") {
  const FlexInputs in({1, 2}, 20, 20);
  const ScoreFunction cap = scores::soft_cap(2);
  const MaskFunction causal = masks::causal();
  const ScoreFunction whole = [&](auto s, auto at) { return s + cap(at.key, at); };
  const ScoreFunction real = [&](auto s, auto at) { return s + cap(at.key * 1.0, at); };
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    CHECK(equal(flex_attention(in.query, in.key, in.value, {.score = whole, .path = path}),
                flex_attention(in.query, in.key, in.value, {.score = real, .path = path})));
  }
  CHECK_THROWS_AS(ScoreFunction([&](auto, auto at) { return cap(at.key < 3, at); }), DTypeError);
  CHECK_THROWS_AS(MaskFunction([&](auto at) {
                    return causal(Position{at.batch, at.head, at.query, at.key / 2.0});
                  }),
                  DTypeError);
  CHECK_THROWS_AS(ScoreFunction([](auto, auto at) { return ScoreFunction()(at.key < 3, at); }),
                  DTypeError);
}

TEST_CASE("a truth value is no number, and cannot be compared with one or chosen beside one") {
  const auto refuses = [](const auto& mix) {
    CHECK_THROWS_AS(MaskFunction([&](auto at) {
                      static_cast<void>(mix(at));
                      return at.key < 3;
                    }),
                    DTypeError);
  };
  refuses([](auto at) { return (at.key < 3) == at.query; });
  refuses([](auto at) { return at.query == (at.key < 3); });
  refuses([](auto at) { return where(at.key < 3, at.key < 2, at.query); });
  refuses([](auto at) { return where(at.key < 3, at.query, at.key < 2); });
}

TEST_CASE("dropout of everything leaves the weights of some heads 0") {
  const Tensor x = rand({1, 2, 5, 4});
  const HeadDetails found = flex_attention_with_heads(x, x, x, {1}, {.dropout_p = 1});
  CHECK((found.weights == 0).all().item<bool>());
  CHECK((found.context == 0).all().item<bool>());
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

TEST_CASE("flex_attention refuses more places than int32 counts, and weights on the fused path") {
  const Tensor many = zeros({1, 1}).expand({std::int64_t{1} << 31, 1}), one = zeros({1, 1});
  CHECK_THROWS_WITH(flex_attention(many, one, one),
                    ContainsSubstring("have more places than int32 counts"));
  CHECK_THROWS_WITH(flex_attention_with_weights(one, one, one, {.path = AttentionPath::fused}),
                    ContainsSubstring("the fused path does not make the weights"));
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

TEST_CASE("a long function has its gradient on both paths") {
  const FlexInputs in({1, 1}, 20, 20);
  const ScoreFunction longest = [](auto s, auto) {
    for (int i = 0; i < 3000; ++i) s = tanh(s) + 0.001 * i;
    return s;
  };
  check_paths(in, {.score = longest});
}

TEST_CASE("weights, scores and logsumexp of some heads are those of all heads") {
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
    CHECK(allclose(some.weights, all, 1e-13, 1e-13));  // the same sums in the same order, nearly
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
    // The first query sees nothing: behind itself there is no key, and its own is hidden.
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
                      ContainsSubstring("[flex_attention_with_heads] head 6 of weights of shape"));
    CHECK_THROWS_AS(flex_attention_with_heads(q, k, v, {-1}, options), IndexError);
    CHECK_THROWS_AS(flex_attention_with_heads(q[0][0], q[0][0], q[0][0], {0}), ShapeError);
  }
}

TEST_CASE("a query whose scores are -inf throughout has gradients of zeros on either path") {
  const FlexInputs in({1, 2}, 2, 16);
  const Tensor bias = zeros({2, 16}, float64);
  bias[0].fill_(-std::numeric_limits<double>::infinity());
  const attention::Lookup table = attention::lookup(bias);
  FlexOptions options;
  options.score = [&](auto score, auto at) { return score + table(at.query, at.key); };
  for (const AttentionPath path : {AttentionPath::composed, AttentionPath::fused}) {
    const std::vector<Tensor> results = flex_results(in, options, path);
    for (const Tensor& each : results) CHECK(isfinite(each).all().item<bool>());
    CHECK((results[0].select(-2, 0) == 0).all().item<bool>());
  }
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

TEST_CASE("a few queries on both sides of a tile are as composed") {
  const Tensor q = randn({12, 4, 64}), k = randn({12, 4158, 64});
  const NoGradGuard no_graph;
  const auto run = [&](AttentionPath path) {
    return scaled_dot_product_attention(q, k, k,
                                        {.is_causal = true, .path = path, .query_offset = 4154});
  };
  CHECK(run(AttentionPath::fused).allclose(run(AttentionPath::composed), 1e-5, 1e-5));
}
