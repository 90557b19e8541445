// Compares the fused path of attention with the composed path, which defines the results.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/numbers.h"
#include "tests/simd_targets.h"

using namespace tend;
using attention::AttentionOptions;
using attention::AttentionPath;
using attention::AttentionPathGuard;
using attention::scaled_dot_product_attention;
using Catch::Matchers::ContainsSubstring;
using tend::test::kInf;

namespace {

// A view of (B, T, H * D) as (B, H, T, D), like the heads that modules split.
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

struct HeadInputs {
  Tensor query, key, value;

  // The inputs are leaves, and views with split heads.
  HeadInputs(std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
             std::int64_t dim, std::int64_t value_dim, DType dtype = float64) {
    const auto make = [&](std::int64_t rows, std::int64_t cols) {
      return split_heads(randn({batch, rows, heads * cols}, dtype), heads)
          .detach()
          .requires_grad_();
    };
    query = make(queries, dim);
    key = make(keys, dim);
    value = make(keys, value_dim);
  }
  HeadInputs(Tensor q, Tensor k, Tensor v)
      : query(q.requires_grad_()), key(k.requires_grad_()), value(v.requires_grad_()) {}
};

// The result and the gradients of query, key and value.
std::vector<Tensor> results(const HeadInputs& in, AttentionOptions options, AttentionPath path) {
  options.path = path;
  manual_seed(3);
  const Tensor out = scaled_dot_product_attention(in.query, in.key, in.value, options);
  manual_seed(4);
  const Tensor cotangent = randn(out.shape(), out.dtype());
  std::vector<Tensor> all = autograd::grad({out}, {in.query, in.key, in.value}, {cotangent});
  all.push_back(out.detach());
  return all;
}

// The tolerance of sums of up to some hundred terms of size 1, each rounded a few times.
double tolerance(DType dtype) {
  return dtype == float64 ? 5e-14 : 3e-5;
}

void check_agreement(const HeadInputs& in, const AttentionOptions& options, double within) {
  const auto composed = results(in, options, AttentionPath::composed);
  const auto fused = results(in, options, AttentionPath::fused);
  const char* names[] = {"query", "key", "value", "result"};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(names[i], in.query.shape(), in.key.shape(), in.value.shape());
    CHECK(fused[i].shape() == composed[i].shape());
    CHECK(allclose(fused[i], composed[i], within, within));
  }
}

void check_agreement(const HeadInputs& in, const AttentionOptions& options = {}) {
  check_agreement(in, options, tolerance(in.query.dtype()));
}

Tensor random_mask(const Shape& shape, double visible) {
  return rand(shape) < visible;
}

Tensor added_mask(const Shape& shape, double visible, DType dtype = float64) {
  return masked_fill(randn(shape, dtype), logical_not(random_mask(shape, visible)), -kInf);
}

const char* const kFusedNode = "ScaledDotProductFlashAttentionForCpuBackward0";

std::string node_of(const Tensor& x) {
  return x.grad_fn();
}

}  // namespace

TEST_CASE("fused attention agrees with composed attention for all sizes") {
  for (const DType dtype : {float64, float32}) {
    for (const bool causal : {false, true}) {
      CAPTURE(dtype, causal);
      const AttentionOptions options{.is_causal = causal};
      check_agreement({2, 3, 1, 1, 1, 1, dtype}, options);
      check_agreement({1, 2, 5, 3, 7, 2, dtype}, options);
      check_agreement({1, 1, 64, 64, 64, 64, dtype}, options);
      check_agreement({2, 2, 65, 63, 16, 80, dtype}, options);
      check_agreement({1, 1, 200, 130, 80, 16, dtype}, options);
      check_agreement({1, 1, 130, 200, 128, 64, dtype}, options);
      check_agreement({1, 20, 130, 130, 8, 8, dtype}, options);
      check_agreement({1, 1, 70, 70, 256, 256, dtype}, options);
    }
  }
}

TEST_CASE("fused attention accepts bool and floating masks of any shape") {
  const HeadInputs in(2, 3, 100, 90, 8, 5);
  const Shape shapes[] = {{2, 3, 100, 90}, {100, 90}, {3, 1, 90}, {2, 1, 100, 1}, {90}, {}};
  for (const Shape& shape : shapes) {
    for (const bool causal : {false, true}) {
      CAPTURE(shape, causal);
      check_agreement(in, {.attn_mask = random_mask(shape, 0.5), .is_causal = causal});
      check_agreement(in, {.attn_mask = added_mask(shape, 0.5), .is_causal = causal});
    }
  }
  check_agreement(in, {.attn_mask = random_mask({90, 100}, 0.5).t()});
  check_agreement(in, {.attn_mask = added_mask({90, 100}, 0.5).t()});
  check_agreement(in, {.attn_mask = random_mask({100, 180}, 0.5).slice(1, 0, 180, 2)});
  const HeadInputs small(1, 2, 70, 80, 8, 8, float32);
  check_agreement(small, {.attn_mask = added_mask({70, 80}, 0.5, float32)});
}

TEST_CASE(
    "queries that may attend to nothing get zeros and finite gradients from fused attention") {
  const HeadInputs in(2, 3, 100, 90, 8, 5);
  for (const bool causal : {false, true}) {
    const AttentionOptions variants[] = {
        {.attn_mask = random_mask({100, 90}, 0.01), .is_causal = causal},
        {.attn_mask = added_mask({3, 100, 90}, 0.01), .is_causal = causal},
        {.attn_mask = zeros({100, 90}, boolean), .is_causal = causal}};
    for (const AttentionOptions& options : variants) {
      check_agreement(in, options);
      const auto fused = results(in, options, AttentionPath::fused);
      for (const Tensor& each : fused) CHECK(isfinite(each).all().item<bool>());
      CHECK((fused[3] == 0).all(-1).any().item<bool>());
    }
  }
}

TEST_CASE("fused attention drops the same weights as composed attention") {
  for (const DType dtype : {float64, float32}) {
    const HeadInputs in(2, 3, 100, 90, 8, 5, dtype);
    check_agreement(in, {.dropout_p = 0.3});
    check_agreement(in, {.attn_mask = random_mask({90}, 0.5), .dropout_p = 0.8, .is_causal = true});
  }
  const HeadInputs in(1, 1, 70, 70, 4, 4);
  Tensor next[2];
  for (const bool fused : {false, true}) {
    results(in, {}, AttentionPath::fused);
    manual_seed(9);
    scaled_dot_product_attention(
        in.query, in.key, in.value,
        {.dropout_p = 0.1, .path = fused ? AttentionPath::fused : AttentionPath::composed});
    next[fused] = rand({4});
  }
  CHECK(equal(next[0], next[1]));
}

TEST_CASE("fused attention accepts any strides and broadcasts heads") {
  check_agreement({randn({2, 70, 5}, float64), randn({2, 5, 70}, float64).transpose(1, 2).detach(),
                   randn({2, 140, 6}, float64).slice(1, 0, 140, 2).detach()});
  check_agreement({randn({70, 5}, float64), randn({66, 5}, float64), randn({66, 3}, float64)},
                  {.is_causal = true});
  check_agreement(
      {randn({2, 1, 70, 5}, float64), randn({3, 70, 5}, float64), randn({70, 4}, float64)},
      {.is_causal = true});
  const Tensor column = randn({70, 1}, float64);
  check_agreement({column.expand({70, 4}).detach(), column.expand({70, 4}).detach(), column});
}

TEST_CASE("the results of fused attention have the memory layout of its inputs") {
  const HeadInputs in(2, 3, 70, 70, 8, 8);
  const auto is_split = [](const Tensor& x) { return x.transpose(1, 2).is_contiguous(); };
  const auto split = results(in, {}, AttentionPath::fused);
  for (const Tensor& each : split) CHECK(is_split(each));
  const HeadInputs dense(randn({2, 3, 70, 8}), randn({2, 3, 70, 8}), randn({2, 3, 70, 8}));
  for (const Tensor& each : results(dense, {}, AttentionPath::fused)) CHECK(each.is_contiguous());
}

TEST_CASE("fused attention passes gradcheck and gradgradcheck") {
  const Tensor visible = random_mask({66, 67}, 0.5), added = added_mask({66, 67}, 0.5);
  const AttentionOptions variants[] = {{},
                                       {.is_causal = true},
                                       {.attn_mask = visible, .is_causal = true},
                                       {.attn_mask = added, .dropout_p = 0.4}};
  for (AttentionOptions options : variants) {
    options.path = AttentionPath::fused;
    const auto call = [&](const std::vector<Tensor>& x) {
      manual_seed(6);
      return std::vector<Tensor>{scaled_dot_product_attention(x[0], x[1], x[2], options)};
    };
    const HeadInputs in(1, 1, 66, 67, 3, 2);
    const std::vector<Tensor> inputs = {in.query, in.key, in.value};
    CHECK(node_of(call(inputs)[0]) == kFusedNode);
    const GradcheckReport first = gradcheck(call, inputs);
    CHECK(first.message == (first ? first.message : "passed"));
    const GradcheckReport second = gradgradcheck(call, inputs, {.full_jacobian = 0});
    CHECK(second.message == (second ? second.message : "passed"));
  }
}

TEST_CASE("fused attention agrees with composed attention for masks of large numbers") {
  // These masks add a large negative number instead of -inf. A query whose keys are all hidden
  // attends to all of them evenly.
  for (const double number : {-1e4, -1e9, -1e18, -1e30}) {
    CAPTURE(number);
    // A score loses digits when the number is added. With the last two numbers it loses all digits.
    const double lost = number > -1e17 ? -number * 0x1p-51 : 0;
    const HeadInputs in(2, 2, 40, 33, 8, 5);
    Tensor mask = zeros({40, 33}, float64);
    mask[3].fill_(number);
    mask.narrow(1, 20, 5).fill_(number);
    check_agreement(in, {.attn_mask = mask}, tolerance(float64) + lost);
  }
}

TEST_CASE("fused attention has the same bits for any number of threads") {
  const int before = num_threads();
  const AttentionOptions options{.dropout_p = 0.2, .is_causal = true};
  for (const std::int64_t heads : {1, 3, 20}) {
    const HeadInputs in(1, heads, 400, 400, 16, 16, float32);
    set_num_threads(1);
    const auto one = results(in, options, AttentionPath::fused);
    for (const int threads : {2, 3, 4, 8}) {
      set_num_threads(threads);
      const auto several = results(in, options, AttentionPath::fused);
      for (std::size_t i = 0; i < 4; ++i) CHECK(equal(one[i], several[i]));
    }
  }
  set_num_threads(before);
}

TEST_CASE("fused attention agrees with composed attention on every SIMD target") {
  test::for_each_simd_target([](const std::string& target) {
    CAPTURE(target);
    for (const DType dtype : {float64, float32}) {
      check_agreement({1, 2, 100, 90, 24, 7, dtype}, {.dropout_p = 0.3, .is_causal = true});
      check_agreement({1, 2, 33, 90, 24, 40, dtype}, {.attn_mask = random_mask({33, 90}, 0.05)});
      check_agreement({1, 1, 70, 70, 4, 4, dtype}, {.attn_mask = added_mask({70, 70}, 0.1, dtype)});
    }
  });
}

TEST_CASE("the memory of fused attention grows with T and not with T x T") {
  constexpr std::int64_t kTokens = 2048, kMatrix = kTokens * kTokens * 4;
  const HeadInputs in(1, 2, kTokens, kTokens, 16, 16, float32);
  for (const double dropout_p : {0.0, 0.1}) {
    const std::int64_t before = live_memory();
    reset_peak_memory();
    results(in, {.dropout_p = dropout_p, .is_causal = true}, AttentionPath::fused);
    // Each input, result and copy has 2 * 2048 * 16 floats, which is 1/64 of a matrix. The dropout
    // mask has one bit for each weight of two heads, which is 1/16 of a matrix.
    CHECK(peak_memory() - before < (dropout_p == 0 ? kMatrix / 2 : kMatrix / 2 + kMatrix / 16));
  }
}

TEST_CASE("the path of attention depends on the sizes and can be forced") {
  const HeadInputs small(1, 2, 1, 5, 4, 4), square(1, 2, 1, 1, 4, 4), large(1, 2, 64, 64, 4, 4);
  const auto node = [](const HeadInputs& in, const AttentionOptions& options) {
    return node_of(scaled_dot_product_attention(in.query, in.key, in.value, options));
  };
  CHECK(node(small, {}) != kFusedNode);
  CHECK(node(large, {}) == kFusedNode);
  CHECK(node(square, {}) == kFusedNode);
  CHECK(node(small, {.path = AttentionPath::fused}) == kFusedNode);
  CHECK(node(large, {.path = AttentionPath::composed}) != kFusedNode);
  {
    const AttentionPathGuard outer(AttentionPath::fused);
    CHECK(node(small, {}) == kFusedNode);
    CHECK(node(small, {.path = AttentionPath::composed}) != kFusedNode);
    const AttentionPathGuard inner(AttentionPath::composed);
    CHECK(node(large, {}) != kFusedNode);
  }
  CHECK(node(large, {}) == kFusedNode);
}

TEST_CASE("calls that the fused path cannot compute are composed unless it is forced") {
  const HeadInputs in(1, 2, 64, 64, 4, 4);
  const HeadInputs more(in.query, in.key, randn({3, 1, 64, 4}, float64));
  const auto refuses = [](const HeadInputs& inputs, AttentionOptions options, const char* reason) {
    const Tensor &q = inputs.query, &k = inputs.key, &v = inputs.value;
    CHECK(node_of(scaled_dot_product_attention(q, k, v, options)) != kFusedNode);
    options.path = AttentionPath::fused;
    CHECK_THROWS_WITH(scaled_dot_product_attention(q, k, v, options), ContainsSubstring(reason));
  };
  refuses(in, {.attn_mask = randn({64, 64}, float64).requires_grad_()}, "the mask requires grad");
  refuses(in, {.attn_mask = randn({64, 64}, float32)},
          "the mask is float32 but the query is float64");
  refuses(in, {.dropout_p = 1}, "dropout_p is 1");
  const HeadInputs trained(in.query.detach().requires_grad_(), in.key, in.value);
  refuses(trained, {.is_causal = true, .query_offset = 1},
          "there is no gradient with a query_offset");
  // Without is_causal, query_offset has no effect.
  CHECK(scaled_dot_product_attention(trained.query, in.key, in.value,
                                     {.path = AttentionPath::fused, .query_offset = 1})
            .requires_grad());
  refuses(more, {}, "value (3, 1, 64, 4) has more leading dimensions than the weights");
  CHECK_THROWS_WITH(
      attention::attention_with_weights(in.query, in.key, in.value, {.path = AttentionPath::fused}),
      "[attention_with_weights] the fused path does not compute the weights");
}

TEST_CASE("fused attention uses the given scale of scores") {
  check_agreement({1, 2, 70, 70, 8, 8}, {.scale = 0.7});
  check_agreement({1, 2, 70, 70, 8, 8}, {.is_causal = true, .scale = 0.0});
}

TEST_CASE("fused attention is NaN exactly where composed attention is NaN") {
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf}) {
    for (std::size_t which = 0; which < 3; ++which) {
      for (const bool causal : {false, true}) {
        CAPTURE(odd, which, causal);
        const HeadInputs in(1, 2, 150, 150, 8, 8);
        const Tensor* inputs[] = {&in.query, &in.key, &in.value};
        inputs[which]->detach()[{0, 0, 100, 3}].fill_(odd);
        const AttentionOptions options{.is_causal = causal};
        const auto fused = results(in, options, AttentionPath::fused);
        const auto composed = results(in, options, AttentionPath::composed);
        for (std::size_t i = 0; i < 4; ++i) {
          CAPTURE(i);
          CHECK(allclose(fused[i], composed[i], 1e-12, 1e-12, /*equal_nan=*/true));
        }
      }
    }
  }
}
