#include <tend/attention/torch_nn/multihead_attention.h>

#include "tests/attention/torch_nn/fixtures.h"

using namespace tend;
using nn::MultiheadAttention;
using tend::test::pattern;
using tend::test::pattern_mask;

namespace {

void check_multihead(const nlohmann::json& expected, DType dtype) {
  const std::int64_t queries = 4, batch = 3, width = 6, heads = 2, keys = expected["keys"];
  const std::int64_t kdim = expected["kdim"], vdim = expected["vdim"];
  const bool batch_first = expected["batch_first"], batched = expected["batched"];
  MultiheadAttention module(width, heads,
                            {.bias = expected["bias"].get<bool>(),
                             .add_bias_kv = expected["add_bias_kv"].get<bool>(),
                             .add_zero_attn = expected["add_zero_attn"].get<bool>(),
                             .kdim = kdim,
                             .vdim = vdim,
                             .batch_first = batch_first});
  test::fill_with_patterns(module, dtype);
  const auto leaf = [&](std::int64_t tokens, std::int64_t size, int seed) {
    const Shape shape = batch_first ? Shape{batch, tokens, size} : Shape{tokens, batch, size};
    return pattern(batched ? shape : Shape{tokens, size}, seed, dtype).requires_grad_();
  };
  const bool shared = expected["shared"];
  const Tensor query = leaf(queries, width, 0);
  const Tensor key = shared ? query : leaf(keys, kdim, 1);
  const Tensor value = shared ? query : leaf(keys, vdim, 2);

  const std::string mask = expected["attn_mask"], weights = expected["weights"];
  const std::int64_t items = (batched ? batch : 1) * heads;
  const bool is_flat = mask.ends_with("2");
  const nn::MultiheadAttentionMasks masks{
      .key_padding_mask = pattern_mask(expected["key_padding_mask"],
                                       batched ? Shape{batch, keys} : Shape{keys}, dtype),
      .need_weights = weights != "none",
      .attn_mask =
          mask == "none"
              ? Tensor()
              : pattern_mask(mask.substr(0, mask.size() - 1),
                             is_flat ? Shape{queries, keys} : Shape{items, queries, keys}, dtype),
      .average_attn_weights = weights == "mean",
      .is_causal = expected["is_causal"].get<bool>()};
  const auto [context, found] = module(query, key, value, masks);
  const double tolerance = test::layer_tolerance(dtype);
  test::check_relative(context, expected["output"], tolerance);
  Tensor loss = (context * pattern(context.shape(), 5, dtype)).sum();
  CHECK(found.defined() == masks.need_weights);
  if (found.defined()) {
    test::check_relative(found, expected["found"], tolerance);
    loss = loss + (found * pattern(found.shape(), 6, dtype)).sum();
  }
  loss.backward();
  std::vector<std::pair<std::string, Tensor>> inputs{{"query", query}};
  if (!shared) inputs.insert(inputs.end(), {{"key", key}, {"value", value}});
  test::check_gradients(expected["gradients"], inputs, module, tolerance);
}

}  // namespace

TEST_CASE("MultiheadAttention computes the same as torch.nn's with all of its options") {
  const auto& cases = test::torch_layers().at("multihead");
  REQUIRE(cases.size() == 110);
  for (const auto& expected : cases) {
    auto settings = expected;
    for (const char* numbers : {"output", "found", "gradients"}) settings.erase(numbers);
    INFO(settings.dump());
    for (const DType dtype : {float64, float32}) check_multihead(expected, dtype);
  }
}

TEST_CASE("MultiheadAttention initialises torch.nn's parameters under its names") {
  const auto& states = test::torch_layers()["initial"];
  manual_seed(123);
  test::check_state(MultiheadAttention(4, 2), states["multihead"]);
  manual_seed(123);
  test::check_state(MultiheadAttention(4, 2, {.bias = false, .kdim = 3, .vdim = 5}),
                    states["multihead_dims"]);
  manual_seed(123);
  test::check_state(MultiheadAttention(4, 2, {.add_bias_kv = true}), states["multihead_bias_kv"]);
}

TEST_CASE("a query that sees no key gets only the bias of out_proj") {
  manual_seed(1);
  MultiheadAttention module(4, 2, {.batch_first = true});
  nn::init::normal_(module.out_proj.bias);
  const Tensor x = randn({2, 3, 4}).requires_grad_();
  const Tensor padding = tensor({{true, true, true}, {false, false, true}});
  for (const bool need_weights : {false, true}) {
    const auto [context, weights] =
        module(x, x, x, {.key_padding_mask = padding, .need_weights = need_weights});
    CHECK(equal(context[0], module.out_proj.bias.expand({3, 4})));
    CHECK(isfinite(context).all().item<bool>());
    if (need_weights) CHECK(equal(weights[0], zeros({3, 3})));
    module.zero_grad();
    (context * context).sum().backward();
    CHECK(isfinite(module.in_proj_weight.grad()).all().item<bool>());
    CHECK(isfinite(x.grad()).all().item<bool>());
  }
}

TEST_CASE("is_causal of MultiheadAttention hides later keys but not the appended ones") {
  manual_seed(2);
  const MultiheadAttention module(4, 2, {.add_bias_kv = true, .add_zero_attn = true});
  const MultiheadAttention plain(4, 2);
  const Tensor x = randn({5, 2, 4});
  const Tensor hidden = logical_not(attention::causal_mask(5, 5));
  for (const MultiheadAttention& each : {module, plain}) {
    for (const bool need_weights : {false, true}) {
      const auto by_flag = each(x, x, x, {.need_weights = need_weights, .is_causal = true});
      const auto by_mask = each(x, x, x, {.need_weights = need_weights, .attn_mask = hidden});
      // The sums are in another order where is_causal skips keys.
      CHECK(allclose(by_flag.context, by_mask.context, 1e-5, 1e-6));
      if (need_weights) CHECK(allclose(by_flag.weights, by_mask.weights, 1e-5, 1e-6));
    }
  }
}

TEST_CASE("MultiheadAttention passes gradcheck to second order") {
  manual_seed(3);
  MultiheadAttention module(4, 2, {.add_bias_kv = true, .kdim = 3, .batch_first = true});
  module.to(float64);
  const Tensor query = randn({2, 3, 4}, float64).requires_grad_();
  const Tensor key = randn({2, 4, 3}, float64).requires_grad_();
  const Tensor value = randn({2, 4, 4}, float64).requires_grad_();
  const Tensor mask = randn({3, 4}, float64);
  for (const bool need_weights : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      const auto out =
          module(in[0], in[1], in[2], {.need_weights = need_weights, .attn_mask = mask});
      if (!need_weights) return {out.context};
      return {out.context, out.weights};
    };
    CHECK(gradcheck(f, {query, key, value}));
    CHECK(gradgradcheck(f, {query, key, value}));
  }
}

TEST_CASE("dropout of MultiheadAttention drops weights only in training") {
  manual_seed(4);
  MultiheadAttention module(4, 2, {.dropout = 0.5});
  const Tensor x = randn({6, 2, 4});
  CHECK((module(x, x, x).weights == 0).any().item<bool>());
  module.eval();
  CHECK_FALSE((module(x, x, x).weights == 0).any().item<bool>());
  manual_seed(5);
  module.train();
  const Tensor fused = module(x, x, x, {.need_weights = false}).context;
  manual_seed(5);
  // Both paths drop the same weights, but sum in another order.
  CHECK(allclose(module(x, x, x).context, fused, 1e-5, 1e-6));
}

TEST_CASE("MultiheadAttention names the argument that does not fit") {
  CHECK_THROWS_WITH(MultiheadAttention(5, 2),
                    "[MultiheadAttention] embed_dim 5 must be divisible by num_heads 2");
  CHECK_THROWS_AS(MultiheadAttention(0, 2), ShapeError);
  CHECK_THROWS_AS(MultiheadAttention(4, 0), ShapeError);
  CHECK_THROWS_AS(MultiheadAttention(4, 2, {.kdim = 0}), ShapeError);
  CHECK_THROWS_WITH(MultiheadAttention(4, 2, {.vdim = -1}),
                    "[MultiheadAttention] vdim must be at least 1, got -1");
  CHECK_THROWS_WITH(MultiheadAttention(4, 2, {.dropout = 1.5}),
                    "[MultiheadAttention] the probability of dropout is 1.5, not in [0, 1]");
  const MultiheadAttention module(4, 2);
  const Tensor x = randn({3, 2, 4});
  CHECK_THROWS_WITH(module(x, x, randn({2, 2, 4})),
                    "[MultiheadAttention] query (3, 2, 4), key (3, 2, 4) and value (2, 2, 4) must "
                    "be (L, N, 4), (S, N, 4) and (S, N, 4); batch_first swaps L and N, and N may "
                    "be missing");
  CHECK_THROWS_AS(module(x, randn({3, 1, 4}), randn({3, 1, 4})), ShapeError);
  CHECK_THROWS_AS(module(randn({4}), x, x), ShapeError);
  const auto names_inputs = Catch::Matchers::StartsWith("[MultiheadAttention] query ");
  CHECK_THROWS_WITH(module(x, randn({3, 4}), x), names_inputs);
  CHECK_THROWS_WITH(module(x, x, randn({3, 4})), names_inputs);
  CHECK_THROWS_WITH(module(randn({3, 2, 5}), x, x), names_inputs);
  CHECK_THROWS_WITH(module(x, randn({3, 2, 5}), x), names_inputs);
  CHECK_THROWS_WITH(module(x, x, randn({3, 2, 5})), names_inputs);
  CHECK_THROWS_WITH(module(x, x, randn({3, 1, 4})), names_inputs);
  CHECK_THROWS_WITH(module(x, x, x, {.attn_mask = zeros({3})}),
                    "[MultiheadAttention] attn_mask (3,) is neither (3, 3) nor (4, 3, 3)");
  CHECK_THROWS_WITH(module(x, x, x, {.attn_mask = zeros({3, 2})}),
                    "[MultiheadAttention] attn_mask (3, 2) is not (L, S) = (3, 3)");
  CHECK_THROWS_WITH(
      module(x, x, x, {.attn_mask = zeros({2, 3, 3})}),
      "[MultiheadAttention] attn_mask (2, 3, 3) is not (N * num_heads, L, S) = (4, 3, 3)");
  CHECK_THROWS_WITH(module(x, x, x, {.key_padding_mask = zeros({3, 2})}),
                    "[MultiheadAttention] key_padding_mask (3, 2) is not (N, S) = (2, 3)");
  CHECK_THROWS_WITH(module(x, x, x, {.key_padding_mask = zeros({2, 3}, int64)}),
                    "[MultiheadAttention] key_padding_mask must be bool or floating, got int64");
}

TEST_CASE("LoRA adapts the last map of MultiheadAttention but not its packed weights") {
  MultiheadAttention module(6, 2);
  CHECK_THROWS_WITH(nn::add_lora(module, {"in_proj_weight"}),
                    "[add_lora] 'in_proj_weight' does not name a Linear; the Linear layers are: "
                    "out_proj");
  CHECK(nn::add_lora(module, {"*"}, {.rank = 2}) == 1);
  module.out_proj.lora_B.detach().fill_(0.5);
  const Tensor x = pattern({4, 3, 6}, 0, float32);
  const Tensor with = module(x, x, x).context.detach();
  nn::merge_lora(module);
  CHECK(allclose(module(x, x, x).context, with, 1e-5, 1e-5));  // sums in another order
  nn::remove_lora(module);
  MultiheadAttention plain(6, 2);
  CHECK_FALSE(allclose(plain(x, x, x).context, with));
}

TEST_CASE("MultiheadAttention computes the same with a cache as for all tokens at once") {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);  // OpenBLAS does not promise equal bits
  manual_seed(6);
  MultiheadAttention module(8, 2, {.kdim = 6, .vdim = 6});
  const Tensor x = randn({7, 3, 8}), keys = randn({7, 3, 6});
  const Tensor padding = randn({3, 7}) > 0.5;
  for (const bool need_weights : {false, true}) {
    const auto whole =
        module(x, keys, keys,
               {.key_padding_mask = padding, .need_weights = need_weights, .is_causal = true});
    attention::KVCache cache;
    for (const std::int64_t count : {3, 1, 1, 2}) {
      const std::int64_t begin = cache.length();
      const Tensor next = keys.narrow(0, begin, count);
      const auto step = module(x.narrow(0, begin, count), next, next,
                               {.key_padding_mask = padding.narrow(1, 0, begin + count),
                                .need_weights = need_weights,
                                .is_causal = count > 1,  // one token needs no mask
                                .cache = &cache});
      const Tensor wanted = whole.context.narrow(0, begin, count);
      // With weights, attention is composed, which sums in another order.
      if (!need_weights) {
        CHECK(equal(step.context, wanted));
        continue;
      }
      CHECK(allclose(step.context, wanted, 1e-5, 1e-6));
      CHECK(allclose(step.weights,
                     whole.weights.narrow(1, begin, count).narrow(2, 0, begin + count), 1e-5,
                     1e-6));
    }
    CHECK(cache.length() == 7);
  }
}

TEST_CASE("a cache works with masks and with inputs without a batch") {
  const NoGradGuard no_graph;
  manual_seed(7);
  const MultiheadAttention module(8, 2);
  const Tensor x = randn({6, 8});
  // The four tokens of the prompt see each other. The next tokens follow one at a time.
  Tensor hidden = logical_not(attention::causal_mask(6, 6));
  hidden.narrow(0, 0, 4).narrow(1, 0, 4).fill_(false);
  const Tensor whole = module(x, x, x, {.attn_mask = hidden}).context;
  attention::KVCache cache;
  const Tensor prompt = x.narrow(0, 0, 4);
  const auto first = module(prompt, prompt, prompt,
                            {.attn_mask = hidden.narrow(0, 0, 4).narrow(1, 0, 4), .cache = &cache});
  // The sums are in another order where keys are hidden.
  CHECK(allclose(first.context, whole.narrow(0, 0, 4), 1e-5, 1e-6));
  for (std::int64_t i = 4; i < 6; ++i) {
    const Tensor next = x.narrow(0, i, 1);
    const auto step = module(next, next, next, {.cache = &cache});
    CHECK(allclose(step.context, whole.narrow(0, i, 1), 1e-5, 1e-6));
    CHECK(step.weights.shape() == Shape{1, i + 1});
  }
}

TEST_CASE("static_kv projects a memory only once but again after an input or weight has changed") {
  const NoGradGuard no_graph;
  manual_seed(8);
  for (const bool is_packed : {true, false}) {
    MultiheadAttention module(8, 2, {.add_bias_kv = true, .kdim = is_packed ? 8 : 6, .vdim = 8});
    const Tensor query = randn({2, 3, 8}), memory = randn({5, 3, is_packed ? 8 : 6}),
                 value = randn({5, 3, 8});
    attention::KVCache cache;
    const auto is_right = [&](const Tensor& key, const Tensor& val) {
      const auto out = module(query, key, val, {.cache = &cache, .static_kv = true});
      const auto plain = module(query, key, val);
      return equal(out.context, plain.context) && equal(out.weights, plain.weights);
    };
    CHECK(is_right(memory, value));
    const std::int64_t bytes = cache.bytes();
    CHECK(bytes == 2 * 5 * 3 * 8 * 4);
    CHECK(cache.length() == 0);
    const auto kept = [&] {
      return cache.remembered({is_packed ? module.in_proj_weight : module.k_proj_weight,
                               module.v_proj_weight, module.in_proj_bias, memory, value});
    };
    REQUIRE(kept() != nullptr);
    const Tensor before = kept()->key;
    CHECK(is_right(memory.view(memory.shape()), value));
    CHECK(kept()->key.data_ptr<float>() == before.data_ptr<float>());
    const Tensor other = randn(memory.shape());
    CHECK(is_right(other, value));
    other.fill_(0.5);
    CHECK(is_right(other, value));
    (is_packed ? module.in_proj_weight : module.v_proj_weight).fill_(0.25);
    CHECK(is_right(other, value));
    module.in_proj_bias.fill_(0.75);
    CHECK(is_right(other, value));
    CHECK(is_right(other, randn({5, 3, 8})));
    CHECK(cache.bytes() == bytes);
    cache.reset();
    CHECK(cache.bytes() == 0);
  }
}

TEST_CASE("MultiheadAttention refuses a cache that it cannot use and leaves it unchanged") {
  manual_seed(9);
  const MultiheadAttention module(4, 2);
  const Tensor x = randn({3, 2, 4});
  attention::KVCache cache({.capacity = 4});
  CHECK_THROWS_WITH(module(x, x, x, {.is_causal = true, .cache = &cache}),
                    "[KVCache] keys and values have a graph, which a cache would lose: call the "
                    "model under a NoGradGuard");
  CHECK_THROWS_AS(module(x, x, x, {.cache = &cache, .static_kv = true}), AutogradError);
  const NoGradGuard no_graph;
  module(x, x, x, {.is_causal = true, .cache = &cache});
  CHECK_THROWS_WITH(module(x, x, x, {.is_causal = true, .cache = &cache}),
                    "[KVCache] 3 tokens after 3 exceed the capacity of 4");
  CHECK_THROWS_WITH(module(x, x, x, {.cache = &cache}),
                    "[MultiheadAttention] 3 tokens with a cache need is_causal or an attn_mask, "
                    "which hides later tokens");
  const Tensor one = x.narrow(0, 0, 1), single = one.narrow(1, 0, 1);
  CHECK_THROWS_WITH(module(single, single, single, {.cache = &cache}),
                    "[KVCache] new keys or values (1, 2, 1, 2) do not fit the cached ones "
                    "(2, 2, 3, 2): dimension 0 differs");
  CHECK_THROWS_WITH(
      module(one, x, x, {.cache = &cache}),
      "[MultiheadAttention] with a cache, query and key must have the same tokens, got 1 and 3; "
      "a memory needs static_kv");
  CHECK_THROWS_WITH(module(one, one, one, {.attn_mask = zeros({1, 1}), .cache = &cache}),
                    "[MultiheadAttention] attn_mask (1, 1) is not (L, S) = (1, 4)");
  CHECK_THROWS_WITH(module(one, x, x, {.static_kv = true}),
                    "[MultiheadAttention] static_kv needs a cache, which stores the projections");
  CHECK_THROWS_WITH(module(one, x, x, {.is_causal = true, .cache = &cache, .static_kv = true}),
                    "[MultiheadAttention] is_causal cannot be combined with static_kv: give an "
                    "attn_mask");
  const MultiheadAttention more(4, 2, {.add_zero_attn = true});
  CHECK_THROWS_WITH(more(one, one, one, {.cache = &cache}),
                    "[MultiheadAttention] add_bias_kv and add_zero_attn cannot be combined with a "
                    "cache");
  attention::KVCache rolling({.window = 2});
  CHECK_THROWS_WITH(module(one, one, one, {.cache = &rolling}),
                    "[MultiheadAttention] the cache stores only the last 2 tokens, but attention "
                    "sees all");
  CHECK(cache.length() == 3);
  const Tensor all = cat({x, one}, 0);
  const Tensor last = module(one, one, one, {.cache = &cache}).context;
  CHECK(allclose(last, module(all, all, all, {.is_causal = true}).context.narrow(0, 3, 1), 1e-5,
                 1e-6));  // the sums are in another order, as the last call returns weights
}
