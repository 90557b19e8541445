// A sequence has the same bits alone, at any place of a batch, and as a prefix of a longer one.
#include <array>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

constexpr std::int64_t kBatch = 5, kTokens = 70;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && equal(a.detach(), b.detach());
}

// `run` takes (B, T, ...) to (B, T, ...) where no token sees those after it.
template <class Run>
void check_sequences(const Run& run, const Tensor& batch) {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);  // OpenBLAS's products promise no bits
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

}  // namespace

TEST_CASE("a sequence has its bits alone, in a batch and as a prefix, in every causal module") {
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

TEST_CASE("a sequence has its bits alone, in a batch and as a prefix, under causal functions") {
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
