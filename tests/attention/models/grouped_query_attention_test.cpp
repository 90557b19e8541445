#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

TEST_CASE("attention with equal numbers of query heads and key heads equals MultiHeadAttention") {
  manual_seed(1);
  const MultiHeadAttention plain(12, 12, 8, 0.0, 3, /*qkv_bias=*/true);
  manual_seed(1);
  GroupedQueryAttention grouped(
      {.context_length = 8, .width = 12, .num_heads = 3, .qkv_bias = true});
  const Tensor x = randn({2, 7, 12});
  CHECK(equal(grouped(x).detach(), plain(x).detach()));
  const AttentionOutput shown = grouped.with_weights(x), wanted = plain.with_weights(x);
  CHECK(equal(shown.context.detach(), wanted.context.detach()));
  CHECK(equal(shown.weights.detach(), wanted.weights.detach()));
  grouped.load_state_dict(plain.state_dict());
  CHECK_THROWS_WITH(grouped(randn({2, 9, 12})),
                    "[GroupedQueryAttention] 9 tokens in dimension -2 of (2, 9, 12) exceed the "
                    "context_length of 8");
  CHECK_THROWS_AS(grouped.with_weights(randn({2, 9, 12})), ShapeError);
}

TEST_CASE("heads share keys and values after the keys are normalised and rotated") {
  manual_seed(2);
  const GPTConfig config{.context_length = 8,
                         .width = 10,
                         .num_heads = 4,
                         .positions = PositionKind::rotary,
                         .rotary = {.theta = 100.0, .dims = 4},
                         .num_kv_heads = 2,
                         .head_dim = 6,
                         .qk_norm = true,
                         .out_bias = false};
  const GroupedQueryAttention layer(config);
  {
    const NoGradGuard no_graph;
    nn::init::normal_(layer.query_norm);
    nn::init::normal_(layer.key_norm);
  }
  const Tensor x = randn({2, 5, 10});
  const auto heads = [&](const nn::Linear& map, std::int64_t count) {
    return map(x).view({2, 5, count, 6}).transpose(1, 2);
  };
  const auto placed = [&](const Tensor& head, const Tensor& norm) {
    return rotary(rms_norm(head, {6}, norm, 1e-5), arange(5), config.rotary);
  };
  const Tensor query = placed(heads(layer.W_query, 4), layer.query_norm);
  const Tensor key = repeat_interleave(placed(heads(layer.W_key, 2), layer.key_norm), 2, 1);
  const Tensor value = repeat_interleave(heads(layer.W_value, 2), 2, 1);
  const Tensor context = scaled_dot_product_attention(query, key, value, {.is_causal = true});
  const Tensor wanted = layer.out_proj(context.transpose(1, 2).flatten(2));
  // Repeated keys and values give the same sums in the same order.
  CHECK(allclose(layer(x), wanted, 1e-6, 1e-6));
  const AttentionOutput shown = layer.with_weights(x);
  CHECK(allclose(shown.context, wanted, 1e-6, 1e-6));  // composed: equal up to some roundings
  CHECK(shown.weights.shape() == Shape{2, 4, 5, 5});
}

TEST_CASE("an invalid configuration is refused before random numbers are drawn") {
  const auto refused = [](const GPTConfig& config) {
    manual_seed(3);
    const auto before = get_rng_state().to_bytes();
    CHECK_THROWS_AS(GPT(config), Error);
    CHECK_THROWS_AS(GroupedQueryAttention(config), Error);
    CHECK(get_rng_state().to_bytes() == before);
  };
  refused({.num_heads = 4, .num_kv_heads = 3});
  refused({.num_heads = 4, .num_kv_heads = 0});
  refused({.head_dim = -1});
  refused({.width = 20, .num_heads = 4, .positions = PositionKind::rotary});
  refused({.positions = PositionKind::rotary, .rotary = {.dims = 18}});
  refused({.positions = PositionKind::rotary, .rotary = {.theta = -1}});
  refused({.positions = PositionKind::rotary, .rotary = {.scaling = {.factor = 0}}});
  const auto refused_frequencies = [&](double low, double high) {
    RotaryOptions rotary;
    rotary.scaling = {.low_frequency = low, .high_frequency = high, .original_context = 8};
    refused({.positions = PositionKind::rotary, .rotary = rotary});
  };
  refused_frequencies(4, 1);
  refused_frequencies(4, 4);
  refused_frequencies(std::nan(""), 4);
  refused_frequencies(1, std::numeric_limits<double>::infinity());
  refused({.norm_eps = -1.0});
  refused({.norm_eps = std::nan("")});
  refused({.norm_eps = std::numeric_limits<double>::infinity()});
  refused({.context_length = -1});
  refused({.width = 10, .num_heads = 4});
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  refused({.width = 4, .num_heads = 4, .head_dim = kLarge});
  refused({.width = kLarge, .num_heads = 1});
  refused({.width = 4, .num_heads = 1, .hidden_width = kLarge});
  refused({.positions = PositionKind::rotary, .rotary = {.scaling = {.original_context = -1}}});
  refused({.positions = PositionKind::rotary,
           .rotary = {.theta = std::numeric_limits<double>::infinity()}});
  refused({.window = 0});
  refused({.hidden_width = -5});
}
