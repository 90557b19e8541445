// A model computes the same with a cache as without one.
#include <limits>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t kVocabulary = 31;

GPTConfig small_model(PositionKind positions) {
  return {.vocab_size = kVocabulary,
          .context_length = 40,
          .width = 32,
          .num_heads = 4,
          .num_layers = 2,
          .positions = positions};
}

std::vector<GPTConfig> plain_models() {
  GPTConfig llama = small_model(PositionKind::rotary);
  llama.norm = NormKind::rms;
  llama.feed_forward = FeedForwardKind::swiglu;
  llama.num_kv_heads = 2;
  llama.qk_norm = true;
  return {small_model(PositionKind::learned), small_model(PositionKind::sinusoidal),
          small_model(PositionKind::none), llama};
}

// Models whose attention uses score and mask functions.
std::vector<GPTConfig> models_with_functions() {
  GPTConfig window = small_model(PositionKind::rotary);
  window.window = 5;
  GPTConfig both = small_model(PositionKind::alibi);
  both.window = 7;
  return {small_model(PositionKind::alibi), window, both};
}

// The logits of all tokens, in chunks of these sizes.
Tensor in_chunks(const GPT& model, const Tensor& tokens, const std::vector<std::int64_t>& chunks,
                 KVCache& cache) {
  std::vector<Tensor> logits;
  for (const std::int64_t size : chunks) {
    logits.push_back(model(tokens.narrow(1, cache.length(), size), {.cache = &cache}));
  }
  return cat(logits, 1);
}

const std::vector<std::vector<std::int64_t>> kChunks = {
    {37}, {1, 1, 1, 34}, {20, 1, 1, 1, 7, 7}, std::vector<std::int64_t>(37, 1)};

}  // namespace

TEST_CASE("tokens after cached ones have the same bits as in the whole sequence") {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);  // OpenBLAS does not promise equal bits
  manual_seed(1);
  const Tensor tokens = randint(0, kVocabulary, {3, 37});
  for (const GPTConfig& config : plain_models()) {
    const GPT model(config);
    const Tensor whole = model(tokens);
    for (const auto& chunks : kChunks) {
      KVCache growing, fixed({.capacity = 37});
      CHECK(equal(in_chunks(model, tokens, chunks, growing), whole));
      CHECK(equal(in_chunks(model, tokens, chunks, fixed), whole));
      CHECK(growing.length() == 37);
    }
  }
}

TEST_CASE("windows and linear biases see the same tokens with any cache") {
  const NoGradGuard no_graph;
  manual_seed(2);
  const Tensor tokens = randint(0, kVocabulary, {2, 37});
  for (const GPTConfig& config : models_with_functions()) {
    const GPT model(config);
    const Tensor whole = model(tokens);
    for (const auto& chunks : kChunks) {
      KVCache growing;
      // Fused and composed attention sum up to 37 products in different orders.
      CHECK(allclose(in_chunks(model, tokens, chunks, growing), whole, 1e-5, 1e-5));
      {
        const MatmulPathGuard tiles(MatmulPath::automatic);
        const AttentionPathGuard fused(AttentionPath::fused);
        KVCache same;
        CHECK(equal(in_chunks(model, tokens, chunks, same), model(tokens)));
      }
      if (!config.window) continue;
      KVCache rolling({.window = config.window});
      CHECK(allclose(in_chunks(model, tokens, chunks, rolling), whole, 1e-5, 1e-5));
      CHECK(rolling.length() == 37);
      if (chunks.size() == 37) CHECK(rolling.bytes() < growing.bytes());
    }
  }
}

TEST_CASE("padding at the left does not change the tokens after it") {
  const NoGradGuard no_graph;
  manual_seed(3);
  std::vector<GPTConfig> configs = plain_models();
  for (const GPTConfig& each : models_with_functions()) configs.push_back(each);
  for (const GPTConfig& config : configs) {
    const GPT model(config);
    const Tensor tokens = randint(0, kVocabulary, {2, 12});
    const Tensor padding = tensor(std::vector<std::int64_t>{0, 5});
    const Tensor alone = model(tokens.narrow(0, 1, 1).narrow(1, 5, 7));
    const Tensor batch = model(tokens, {.padding = padding});
    CHECK(allclose(batch.narrow(0, 1, 1).narrow(1, 5, 7), alone, 1e-5, 1e-5));
    CHECK(allclose(batch.narrow(0, 0, 1), model(tokens.narrow(0, 0, 1)), 1e-5, 1e-5));
    KVCache cache;
    const Tensor first = model(tokens.narrow(1, 0, 9), {.cache = &cache, .padding = padding});
    const Tensor rest = model(tokens.narrow(1, 9, 3), {.cache = &cache, .padding = padding});
    CHECK(allclose(cat({first, rest}, 1), batch, 1e-5, 1e-5));
    const Tensor last = model(tokens, {.padding = padding, .last_only = true});
    CHECK(allclose(last, batch.narrow(1, 11, 1), 1e-5, 1e-5));
  }
}

TEST_CASE("a cache can be reordered and truncated and reset") {
  const NoGradGuard no_graph;
  manual_seed(4);
  const GPT model(small_model(PositionKind::learned));
  const Tensor tokens = randint(0, kVocabulary, {2, 9});
  KVCache cache;
  model(tokens.narrow(1, 0, 5), {.cache = &cache});
  const Tensor rows = tensor(std::vector<std::int64_t>{1, 0, 1});
  cache.reorder(rows);
  const Tensor moved = index_select(tokens, 0, rows);
  CHECK(allclose(model(moved.narrow(1, 5, 4), {.cache = &cache}), model(moved).narrow(1, 5, 4),
                 1e-5, 1e-5));
  cache.truncate(3);
  CHECK(allclose(model(moved.narrow(1, 3, 2), {.cache = &cache}), model(moved).narrow(1, 3, 2),
                 1e-5, 1e-5));
  CHECK_THROWS_AS(cache.truncate(6), Error);
  CHECK_THROWS_AS(cache.truncate(-1), Error);
  cache.reset();
  CHECK(cache.length() == 0);
  CHECK(allclose(model(tokens, {.cache = &cache}), model(tokens), 1e-5, 1e-5));
}

TEST_CASE("a failed call leaves the cache unchanged") {
  const NoGradGuard no_graph;
  manual_seed(5);
  const GPT model(small_model(PositionKind::rotary));
  const Tensor tokens = randint(0, kVocabulary, {2, 9});
  KVCache cache({.capacity = 9});
  model(tokens.narrow(1, 0, 5), {.cache = &cache});
  CHECK_THROWS_WITH(model(tokens.narrow(1, 0, 5), {.cache = &cache}),
                    "[KVCache] 5 tokens after 5 exceed the capacity of 9");
  CHECK_THROWS_AS(model(full({2, 1}, kVocabulary), {.cache = &cache}), IndexError);
  CHECK_THROWS_AS(model(tokens.narrow(0, 0, 1).narrow(1, 5, 1), {.cache = &cache}), ShapeError);
  {
    const GradModeGuard graph(true);
    CHECK_THROWS_AS(model(tokens.narrow(1, 5, 1), {.cache = &cache}), AutogradError);
  }
  CHECK(cache.length() == 5);
  CHECK(allclose(model(tokens.narrow(1, 5, 4), {.cache = &cache}), model(tokens).narrow(1, 5, 4),
                 1e-5, 1e-5));
}

TEST_CASE("a cache refuses keys and values of another shape or dtype or layer") {
  const NoGradGuard no_graph;
  KVCache cache({.capacity = 4});
  const Tensor key = ones({1, 2, 3, 8});
  cache.reserve(3);
  CHECK_THROWS_AS(cache.extend(0, key, ones({1, 2, 1, 8})), ShapeError);
  CHECK_THROWS_AS(cache.extend(0, key, ones({1, 2, 4})), ShapeError);
  {
    const GradModeGuard graph(true);
    CHECK_THROWS_AS(cache.extend(0, key, key.clone().requires_grad_()), AutogradError);
    CHECK_THROWS_AS(cache.extend(0, key.clone().requires_grad_(), key), AutogradError);
  }
  CHECK_THROWS_AS(cache.extend(1, key, key), IndexError);
  cache.extend(0, key, key);
  cache.advance(3);
  CHECK_THROWS_AS(cache.extend(0, ones({1, 2, 2, 8}), ones({1, 2, 2, 8})), Error);
  const Tensor next = ones({1, 2, 1, 8});
  CHECK_THROWS_AS(cache.extend(0, next.to(float64), next.to(float64)), DTypeError);
  CHECK_THROWS_AS(cache.extend(1, next, next), IndexError);
}

TEST_CASE("a cache with tokens of another number of layers is refused") {
  const NoGradGuard no_graph;
  GPTConfig config = small_model(PositionKind::rotary);
  const GPT two(config);
  config.num_layers = 1;
  const GPT one(config);
  config.num_layers = 3;
  const GPT three(config);
  const Tensor tokens = zeros({1, 3}, int64);
  KVCache cache;
  two(tokens, {.cache = &cache});
  CHECK_THROWS_WITH(one(tokens, {.cache = &cache}),
                    "[GPT] the cache has tokens of 2 layers, the model has 1");
  CHECK_THROWS_AS(three(tokens, {.cache = &cache}), Error);
  CHECK(cache.length() == 3);
}

TEST_CASE("invalid caches and invalid uses of caches are refused") {
  CHECK_THROWS_AS(KVCache({.capacity = 0}), Error);
  CHECK_THROWS_AS(KVCache({.window = -1}), Error);
  CHECK_THROWS_AS(KVCache({.capacity = 3, .window = 2}), Error);
  const NoGradGuard no_graph;
  const GPT model(small_model(PositionKind::rotary));
  KVCache rolling({.window = 5});
  CHECK_THROWS_WITH(model(zeros({1, 2}, int64), {.cache = &rolling}),
                    "[GPT] the cache stores only the last 5 tokens, but the model sees all");
  KVCache cache;
  CHECK_THROWS_AS(model(zeros({1, 41}, int64), {.cache = &cache}), ShapeError);
  model(zeros({1, 39}, int64), {.cache = &cache});
  CHECK_THROWS_WITH(model(zeros({1, 2}, int64), {.cache = &cache}),
                    "[GPT] needs tokens (batch, at most 1), got (1, 2)");
  CHECK_THROWS_AS(cache.reorder(tensor(std::vector<std::int64_t>{1})), IndexError);
  CHECK_THROWS_WITH(cache.reorder(tensor(std::vector<std::int64_t>{0, -1})),
                    "[KVCache] there is no sequence -1: the cache has 1");
  CHECK_THROWS_AS(cache.reorder(zeros({1})), DTypeError);
  CHECK_THROWS_AS(model(zeros({1, 2}, int64), {.padding = zeros({2}, int64)}), ShapeError);
  CHECK_THROWS_AS(model(zeros({1, 2}, int64), {.padding = full({1}, 3)}), Error);
  CHECK_THROWS_WITH(model(zeros({1, 2}, int64), {.padding = full({1}, -1)}),
                    "[GPT] padding must not be negative");
}

TEST_CASE("after a reset a model with fewer layers and another dtype can use the cache") {
  const NoGradGuard no_graph;
  manual_seed(6);
  GPTConfig config = small_model(PositionKind::rotary);
  const GPT two(config);
  config.num_layers = 1;
  GPT one(config);
  one.to(float64);
  const Tensor tokens = randint(0, kVocabulary, {4, 9});
  KVCache cache;
  two(tokens.narrow(0, 0, 1), {.cache = &cache});
  cache.reset();
  one(tokens.narrow(1, 0, 5), {.cache = &cache});
  cache.reorder(tensor(std::vector<std::int64_t>{3, 3}));
  const Tensor moved = index_select(tokens, 0, tensor(std::vector<std::int64_t>{3, 3}));
  CHECK(allclose(one(moved.narrow(1, 5, 4), {.cache = &cache}), one(moved).narrow(1, 5, 4)));
}
