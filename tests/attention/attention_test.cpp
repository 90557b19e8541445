#include <cmath>

#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;
using attention::attention_with_weights;
using attention::AttentionOptions;
using attention::AttentionOutput;
using attention::scaled_dot_product_attention;

namespace {

bool all_finite(const Tensor& x) {
  for (const double each : x.detach().to(float64).to_vector<double>()) {
    if (!std::isfinite(each)) return false;
  }
  return true;
}

// The largest absolute value, or NaN if any element is NaN.
double largest(const Tensor& x) {
  return x.detach().abs().max().item();
}

struct Inputs {
  Tensor query = randn({2, 3, 4}, float64).requires_grad_();
  Tensor key = randn({2, 5, 4}, float64).requires_grad_();
  Tensor value = randn({2, 5, 6}, float64).requires_grad_();
};

}  // namespace

TEST_CASE("weights are the softmax of scaled scores and contexts are weighted sums of values") {
  const Inputs in;
  const AttentionOutput out = attention_with_weights(in.query, in.key, in.value);
  const Tensor scores = matmul(in.query, in.key.transpose(1, 2)) / 2.0;
  CHECK(allclose(out.weights, softmax(scores, -1), 1e-12, 1e-12));
  CHECK(allclose(out.context, matmul(softmax(scores, -1), in.value), 1e-12, 1e-12));
  CHECK(allclose(attention_with_weights(in.query, in.key, in.value, {.scale = 1.0}).weights,
                 softmax(scores * 2.0, -1), 1e-12, 1e-12));
}

TEST_CASE("true means visible in a bool mask and -inf means hidden in a floating mask") {
  const Inputs in;
  const Tensor visible = tensor({{true, false, true, true, false},
                                 {false, true, false, false, false},
                                 {true, true, true, true, true}});
  const Tensor added = masked_fill(zeros({3, 5}, float64), logical_not(visible), -kInf);
  const Tensor by_bool =
      attention_with_weights(in.query, in.key, in.value, {.attn_mask = visible}).weights;
  const Tensor by_sum =
      attention_with_weights(in.query, in.key, in.value, {.attn_mask = added}).weights;
  CHECK(allclose(by_bool, by_sum, 1e-12, 1e-12));
  CHECK(largest(masked_fill(by_bool, visible, 0)) == 0);
  CHECK(by_bool[{0, 1, 1}].item() == 1);
}

TEST_CASE("causal masks are aligned top-left and causal masks for cached keys bottom-right") {
  const Inputs in;
  const Tensor weights =
      attention_with_weights(in.query, in.key, in.value, {.is_causal = true}).weights;
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) CHECK((weights[{0, i, j}].item() > 0) == (j <= i));
  }
  CHECK(equal(attention::causal_mask(2, 3), tensor({{true, false, false}, {true, true, false}})));
  CHECK(equal(attention::causal_mask_bottom_right(2, 3),
              tensor({{true, true, false}, {true, true, true}})));
  CHECK(equal(attention::causal_mask_bottom_right(3, 2),
              tensor({{false, false}, {true, false}, {true, true}})));
  const Tensor both = attention_with_weights(
                          in.query, in.key, in.value,
                          {.attn_mask = tensor({true, false, true, true, true}), .is_causal = true})
                          .weights;
  CHECK(both[{0, 2, 1}].item() == 0);
  CHECK(both[{0, 2, 2}].item() > 0);
  CHECK(both[{0, 2, 3}].item() == 0);
}

TEST_CASE("a query that may attend to nothing gets zeros and finite gradients of both orders") {
  const Inputs in;
  const Tensor nothing = tensor({{true, true, false, false, true},
                                 {false, false, false, false, false},
                                 {true, false, false, false, false}});
  const Tensor added =
      masked_fill(randn({3, 5}, float64), logical_not(nothing), -kInf).requires_grad_();
  const std::vector<AttentionOptions> variants{{.attn_mask = nothing},
                                               {.attn_mask = added},
                                               {.attn_mask = nothing, .is_causal = true},
                                               {.attn_mask = added, .is_causal = true}};
  for (const AttentionOptions& options : variants) {
    const AttentionOutput out = attention_with_weights(in.query, in.key, in.value, options);
    CHECK(largest(out.weights.select(1, 1)) == 0);
    CHECK(largest(out.context.select(1, 1)) == 0);
    CHECK(all_finite(out.context));
    const Tensor loss = (out.context * out.context).sum();
    const std::vector<Tensor> first =
        autograd::grad({loss}, {in.query, in.key, in.value}, {}, {.create_graph = true});
    CHECK(largest(first[0].select(1, 1)) == 0);
    for (const Tensor& gradient : first) CHECK(all_finite(gradient));
    const Tensor total = (first[0] * first[0]).sum() + (first[1] * first[1]).sum();
    for (const Tensor& gradient : autograd::grad({total}, {in.query, in.key, in.value}))
      CHECK(all_finite(gradient));
  }
}

TEST_CASE("masked_softmax gives zeros to rows without a visible score above -inf") {
  const Tensor scores = tensor({{-kInf, 1.}, {-kInf, -kInf}, {0., 0.}}, {.requires_grad = true});
  const Tensor first = tensor({{true, false}});
  const Tensor weights = attention::masked_softmax(scores, first);
  CHECK(equal(weights, tensor({{0., 0.}, {0., 0.}, {1., 0.}})));
  CHECK(equal(attention::masked_softmax(scores, {}), tensor({{0., 1.}, {0., 0.}, {0.5, 0.5}})));
  const Tensor added = tensor({{0., -kInf}});
  CHECK(equal(attention::masked_softmax(scores, added), weights));
  // A hidden score may be infinite.
  CHECK(equal(attention::masked_softmax(tensor({{1., kInf}}), added), tensor({{1., 0.}})));
  const Tensor gradient =
      autograd::grad({(weights * weights).sum()}, {scores}, {}, {.create_graph = true})[0];
  CHECK(all_finite(gradient));
  CHECK(all_finite(autograd::grad({gradient.sum()}, {scores})[0]));
}

TEST_CASE("attention names the argument that does not fit") {
  const Tensor x = ones({2, 3, 4});
  const Tensor heads = ones({2, 4, 3, 5}), fewer = ones({2, 2, 3, 5}), more = ones({2, 3, 3, 5});
  CHECK_THROWS_WITH(scaled_dot_product_attention(heads, more, more),
                    "[scaled_dot_product_attention] the leading dimensions of query (2, 4, 3, 5), "
                    "key (2, 3, 3, 5) and value (2, 3, 3, 5) do not broadcast");
  CHECK_THROWS_WITH(scaled_dot_product_attention(heads, fewer, fewer),
                    "[scaled_dot_product_attention] the leading dimensions of query (2, 4, 3, 5), "
                    "key (2, 2, 3, 5) and value (2, 2, 3, 5) do not broadcast; with enable_gqa, "
                    "heads of the query share the heads of key and value");
  // The message suggests enable_gqa only if heads of the query can share heads of the key.
  const auto has_no_hint = Catch::Matchers::EndsWith("do not broadcast");
  const Tensor flat = ones({3, 4}), five = ones({5, 3, 4});
  CHECK_THROWS_WITH(scaled_dot_product_attention(flat, x, five), has_no_hint);
  CHECK_THROWS_WITH(scaled_dot_product_attention(x, flat, five), has_no_hint);
  CHECK_THROWS_WITH(scaled_dot_product_attention(x, five, five), has_no_hint);
  CHECK(scaled_dot_product_attention(x, x, x, {.enable_gqa = true})
            .equal(scaled_dot_product_attention(x, x, x)));
  CHECK_THROWS_WITH(scaled_dot_product_attention(x, x, x, {.query_offset = -1}),
                    "[scaled_dot_product_attention] query_offset -1 is negative");
  CHECK_THROWS_AS(scaled_dot_product_attention(x, x, x, {.dropout_p = 1.5}), Error);
}

TEST_CASE("returned weights include dropout") {
  const Tensor x = rand({4, 6, 8});
  manual_seed(5);
  const AttentionOutput out = attention_with_weights(x, x, x, {.dropout_p = 0.5});
  CHECK(allclose(out.context, matmul(out.weights, x), 1e-6, 1e-6));
  const Tensor kept = out.weights == 0;
  CHECK(kept.sum().item() > 20);
  manual_seed(5);
  // This call is fused, and attention_with_weights is composed. Their sums of 6 terms round
  // differently.
  CHECK(
      allclose(scaled_dot_product_attention(x, x, x, {.dropout_p = 0.5}), out.context, 1e-6, 1e-6));
}
