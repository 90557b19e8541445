// A sequence has the same bits by itself, at any index of a batch, and as a prefix of a longer one.
#include <array>

#include "tests/arrays.h"
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

constexpr std::int64_t kBatch = 5, kTokens = 70;

bool same_bits(const Tensor& a, const Tensor& b) {
  return test::same_bits(a.array(), b.array());
}

// Checks `run`, which computes (B, T, ...) from (B, T, ...) and is causal.
template <class Run>
void check_sequences(const Run& run, const Tensor& batch) {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);  // OpenBLAS does not promise equal bits
  const Tensor all = run(batch);
  for (const std::int64_t place : {0, 3}) {
    const Tensor alone = batch.narrow(0, place, 1);
    for (const std::int64_t length : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 70}) {
      CAPTURE(place, length);
      const Tensor wanted = all.narrow(0, place, 1).narrow(1, 0, length);
      CHECK(same_bits(run(alone.narrow(1, 0, length)), wanted));
      CHECK(same_bits(run(batch.narrow(1, 0, length)).narrow(0, place, 1), wanted));
    }
  }
}

// Checks a `run` whose bits do not depend on the batch, but whose prefixes are equal only up to
// rounding.
template <class Run>
void check_rounded_prefixes(const Run& run, const Tensor& batch) {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);
  const Tensor all = run(batch);
  for (const std::int64_t place : {0, 3}) {
    const Tensor alone = batch.narrow(0, place, 1);
    CHECK(same_bits(run(alone), all.narrow(0, place, 1)));
    for (const std::int64_t length : {1, 5, 16, 33, 64}) {
      CAPTURE(place, length);
      const Tensor prefix = batch.narrow(1, 0, length);
      const Tensor found = run(prefix).narrow(0, place, 1);
      CHECK(same_bits(run(alone.narrow(1, 0, length)), found));
      // Numbers of about 1 are sums of at most 96 products, in another order.
      CHECK(allclose(found, all.narrow(0, place, 1).narrow(1, 0, length), 1e-5, 1e-5));
    }
  }
}

GPTConfig gpt_config(PositionKind positions) {
  return {.vocab_size = 300,
          .context_length = kTokens,
          .width = 48,
          .num_layers = 3,
          .positions = positions};
}

GPTConfig llama_config() {
  GPTConfig llama = gpt_config(PositionKind::rotary);
  llama.norm = NormKind::rms;
  llama.feed_forward = FeedForwardKind::swiglu;
  llama.num_kv_heads = 2;
  llama.qk_norm = true;
  return llama;
}

// A memory for a decoder: six tokens that depend only on the first token of x.
Tensor memory_of(const Tensor& x) {
  return x.narrow(1, 0, 1) * linspace(-1, 1, 6).view({6, 1});
}

}  // namespace

TEST_CASE("every causal module gives a sequence the same bits alone and batched and as a prefix") {
  manual_seed(1);
  for (const std::int64_t width : {24, 96}) {
    CAPTURE(width);
    const Tensor x = randn({kBatch, kTokens, width});
    CausalAttention causal(width, width, kTokens, 0.1, true);
    MultiHeadAttentionWrapper wrapper(width, 8, kTokens, 0.0, 3);
    MultiHeadAttention heads(width, width, kTokens, 0.0, 4);
    TransformerBlock block({.context_length = kTokens, .width = width, .num_heads = 4});
    causal.eval();
    check_sequences([&](const Tensor& in) { return causal(in); }, x);
    check_sequences([&](const Tensor& in) { return wrapper(in); }, x);
    check_sequences([&](const Tensor& in) { return heads(in); }, x);
    check_sequences([&](const Tensor& in) { return block(in); }, x);
  }
  GPT gpt({.vocab_size = 300, .context_length = kTokens, .width = 48, .num_layers = 3});
  gpt.eval();
  check_sequences([&](const Tensor& tokens) { return gpt(tokens); },
                  randint(0, 300, Shape{kBatch, kTokens}));
}

TEST_CASE("a GPT of any parts gives a sequence the same bits alone and batched and as a prefix") {
  manual_seed(3);
  GPTConfig window = gpt_config(PositionKind::rotary);
  window.window = 10;
  GPTConfig geglu = gpt_config(PositionKind::alibi);
  geglu.feed_forward = FeedForwardKind::geglu;
  geglu.window = 20;
  for (const GPTConfig& config : {gpt_config(PositionKind::sinusoidal),
                                  gpt_config(PositionKind::rotary), gpt_config(PositionKind::alibi),
                                  gpt_config(PositionKind::none), llama_config(), window, geglu}) {
    CAPTURE(static_cast<int>(config.positions), config.window.value_or(0));
    const GPT gpt(config);
    check_sequences([&](const Tensor& tokens) { return gpt(tokens); },
                    randint(0, 300, Shape{kBatch, kTokens}));
  }
}

TEST_CASE("torch.nn's layers give a sequence the same bits alone and batched and as a prefix") {
  manual_seed(4);
  const Tensor x = randn({kBatch, kTokens, 48});
  const nn::MultiheadAttention heads(48, 4, {.batch_first = true});
  check_sequences(
      [&](const Tensor& in) {
        return heads(in, in, in, {.need_weights = false, .is_causal = true}).context;
      },
      x);
  for (const bool norm_first : {true, false}) {
    nn::Transformer both(
        {.d_model = 48,
         .nhead = 4,
         .num_encoder_layers = 2,
         .num_decoder_layers = 2,
         .layer = {.dim_feedforward = 80, .batch_first = true, .norm_first = norm_first}});
    both.eval();
    const auto check = [&](const auto& run) { check_sequences(run, x); };
    check([&](const Tensor& in) { return both.encoder.layers[0](in, {.is_causal = true}); });
    check([&](const Tensor& in) { return both.encoder(in, {.is_causal = true}); });
    check([&](const Tensor& in) {
      return both.decoder.layers[0](in, memory_of(in), {.tgt_is_causal = true});
    });
    check(
        [&](const Tensor& in) { return both.decoder(in, memory_of(in), {.tgt_is_causal = true}); });
    check([&](const Tensor& in) { return both(memory_of(in), in, {.tgt_is_causal = true}); });
  }
}

// The exceptions that README.md states. Left padding and rolling caches are in
// models/kv_cache_test.cpp.
TEST_CASE("a prefix is equal up to rounding if weights are returned or keys are appended") {
  manual_seed(5);
  const Tensor x = randn({kBatch, kTokens, 48});
  const MultiHeadAttention book(48, 48, kTokens, 0.0, 4);
  check_rounded_prefixes([&](const Tensor& in) { return book.with_weights(in).context; }, x);
  const nn::MultiheadAttention heads(48, 4, {.batch_first = true});
  check_rounded_prefixes(
      [&](const Tensor& in) { return heads(in, in, in, {.is_causal = true}).context; }, x);
  for (const bool learned : {true, false}) {
    const nn::MultiheadAttention appended(
        48, 4, {.add_bias_kv = learned, .add_zero_attn = !learned, .batch_first = true});
    check_rounded_prefixes(
        [&](const Tensor& in) {
          return appended(in, in, in, {.need_weights = false, .is_causal = true}).context;
        },
        x);
  }
  const GPT gpt(llama_config());
  check_rounded_prefixes([&](const Tensor& in) { return gpt.with_weights(in).logits; },
                         randint(0, 300, Shape{kBatch, kTokens}));
}

TEST_CASE("causal functions give a sequence the same bits alone and batched and as a prefix") {
  manual_seed(2);
  const Tensor x = randn({kBatch, kTokens, 3, 16});
  const Tensor documents = floor_divide(arange(0, kTokens, 1, {.dtype = int64}), 20);
  const Tensor slopes = scores::alibi_slopes(3);
  const std::array masks{masks::causal(), masks::sliding_window(10),
                         masks::documents(documents) && masks::causal()};
  for (const MaskFunction& mask : masks) {
    for (const ScoreFunction& score : {ScoreFunction(), scores::alibi(slopes)}) {
      check_sequences(
          [&](const Tensor& in) {
            const Tensor heads = in.transpose(1, 2);
            return flex_attention(heads, heads, heads, {.score = score, .mask = mask})
                .transpose(1, 2);
          },
          x);
    }
  }
}
