// Seed 001: small steps, with attention classes that the notebook imports from a separate file.
#include "road.h"

namespace chapter3 {

using namespace tend;

namespace {

void walk_simple(Walk& walk) {
  walk.section("Seed 001: simple attention");
  const Tensor inputs = six_words();
  walk_one_query(walk, "s001", {.naive_softmax = true, .totals_as_numbers = true});
  walk.show("s001-attn-scores-loop", "scores by two loops", scores_by_loops(inputs));
  walk.show("s001-attn-scores-matmul", "scores by one product", attention::dot_scores(inputs));
  const attention::AttentionOutput simple = attention::simple_attention(inputs);
  walk.show("s001-attn-weights", "weights", simple.weights);
  walk.show("s001-context-vecs", "context vectors", simple.context);
}

void walk_attention_classes(Walk& walk) {
  walk.section("Seed 001: self-attention classes");
  const Tensor inputs = six_words();
  manual_seed(123);
  walk.show("s001-self-attention-v1-rand-123", "parameters by rand",
            attention::SelfAttentionV1(3, 2)(inputs));
  manual_seed(789);
  const attention::SelfAttentionV2 v2(3, 2);
  walk.show("s001-self-attention-v2-789", "Linear layers", v2(inputs));
  attention::SelfAttentionV1 v1(3, 2);
  v1.copy_weights(v2);
  walk.show("s001-transfer-v2-to-v1", "their weights in plain parameters", v1(inputs));
  manual_seed(789);
  const attention::SelfAttentionV2 again(3, 2);
  walk.show("s001-self-attention-v2-789-again", "created again from the same seed", again(inputs));

  walk.section("Seed 001: hiding the future");
  const Tensor causal = walk_causal(walk, "s001", "-789", again, FutureMask::triu).causal_weights;
  const nn::Dropout dropout(0.5);
  manual_seed(123);
  walk.show("s001-dropout-ones", "dropout of ones", dropout(ones({6, 6})));
  manual_seed(123);
  walk.show("s001-dropout-causal-weights", "dropout of the causal weights", dropout(causal));
}

void walk_batches(Walk& walk) {
  walk.section("Seed 001: batches and heads");
  const Tensor batch = stack({six_words(), six_words()}, 0);
  walk.show("s001-batch-shape", "two times the six words", batch.shape());
  manual_seed(123);
  const Tensor causal = attention::CausalAttention(3, 2, 6, 0.0)(batch);
  walk.show("s001-causal-attention-shape", "shape of causal attention", causal.shape());
  walk.show("s001-causal-attention", "its context vectors", causal);

  const Tensor a = two_heads();
  walk.show("s001-a-shape", "one sequence, two heads, three tokens of width four", a.shape());
  const Tensor transposed = a.transpose(2, 3);
  walk.show("s001-a-transposed", "last dimensions swapped", transposed);
  walk.show("s001-a-transposed-shape", "its shape", transposed.shape());
  const Tensor first = a[{0, 0, Slice(), Slice()}];
  walk.show("s001-first-head", "the first head", first);
  walk.show("s001-first-head-shape", "its shape", first.shape());
  walk.show("s001-first-head-gram", "dot products of its tokens", matmul(first, first.t()));
  const Tensor second = a[{0, 1, Slice(), Slice()}];
  walk.show("s001-second-head-gram", "dot products of the second head's tokens",
            matmul(second, second.t()));

  walk.show("s001-mha-batch-shape", "the batch again", batch.shape());
  manual_seed(123);
  const Tensor context = attention::MultiHeadAttention(3, 2, 6, 0.0, 2)(batch);
  walk.show("s001-multi-head-attention", "multi-head attention", context);
  walk.show("s001-multi-head-attention-shape", "its shape", context.shape());
}

}  // namespace

void walk_seed_001(Walk& walk) {
  walk_simple(walk);
  walk_attention_classes(walk);
  walk_batches(walk);
}

}  // namespace chapter3
