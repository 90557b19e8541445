// Seeds 003 and 004: both notebooks follow the book (S. Raschka, Build a Large Language Model).
// They differ in the values that they print.
#include <cmath>

#include "road.h"

namespace chapter3 {

using namespace tend;

namespace {

void walk_simple(Walk& walk, const std::string& seed) {
  walk.section("Seed " + seed.substr(1) + ": simple attention");
  const Tensor inputs = six_words();
  walk_one_query(walk, seed, {});
  if (seed == "s003")
    walk.show(seed + "-attn-scores-loop", "scores by two loops", scores_by_loops(inputs));
  const Tensor scores = matmul(inputs, inputs.t());
  walk.show(seed + "-attn-scores-matmul", "scores by one product", scores);
  const Tensor weights = softmax(scores, -1);
  walk.show(seed + "-attn-weights", "weights", weights);
  if (seed == "s004") {
    double sum = 0;
    for (const double weight : {0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581}) sum += weight;
    walk.show("s004-row-2-sum-python", "the printed second row, summed in doubles", sum);
  }
  walk.show(seed + "-attn-weights-row-sums", "sums of the rows", weights.sum({-1}));
  walk.show(seed + "-context-vecs", "context vectors", matmul(weights, inputs));
  const Tensor second = softmax(scores_by_loop(inputs[1], inputs), 0);
  walk.show(seed + "-context-vec-2-again", "context vector of the second word again",
            context_by_loop(second, inputs));
}

void walk_trainable_weights(Walk& walk, const std::string& seed) {
  walk.section("Seed " + seed.substr(1) + ": trainable weights");
  const Tensor inputs = six_words();
  manual_seed(123);
  const Tensor w_query = rand({3, 2});
  const Tensor w_key = rand({3, 2});
  const Tensor w_value = rand({3, 2});
  walk.show(seed + "-w-query-rand", "W_query", w_query);
  walk.show(seed + "-w-key-rand", "W_key", w_key);
  walk.show(seed + "-w-value-rand", "W_value", w_value);
  const Tensor query = matmul(inputs[1], w_query);
  walk.show(seed + "-query-2", "query of the second word", query);
  walk.show(seed + "-key-2", "its key", matmul(inputs[1], w_key));
  walk.show(seed + "-value-2", "its value", matmul(inputs[1], w_value));
  const Tensor keys = matmul(inputs, w_key);
  const Tensor values = matmul(inputs, w_value);
  walk.show(seed + "-keys", "all keys", keys);
  walk.show(seed + "-values", "all values", values);
  if (seed == "s004") walk.show("s004-keys-shape", "their shapes", keys.shape());
  walk.show(seed + "-values-shape", "shape of the values", values.shape());
  walk.show(seed + "-attn-score-22", "score of the second word with itself", dot(query, keys[1]));
  const Tensor scores = matmul(query, keys.t());
  walk.show(seed + "-attn-scores-2-trainable", "its scores with all", scores);
  const Tensor weights = softmax(scores / std::sqrt(static_cast<double>(keys.size(-1))), -1);
  walk.show(seed + "-attn-weights-2-scaled", "its weights", weights);
  if (seed == "s003") walk.show("s003-attn-weights-2-shape", "their shape", weights.shape());
  walk.show(seed + "-context-vec-2-trainable", "its context vector", matmul(weights, values));
}

void walk_classes(Walk& walk, const std::string& seed) {
  walk.section("Seed " + seed.substr(1) + ": self-attention classes");
  const Tensor inputs = six_words();
  manual_seed(123);
  walk.show(seed + "-self-attention-v1", "SelfAttentionV1",
            attention::SelfAttentionV1(3, 2)(inputs));
  if (seed == "s003") {
    walk.show("s003-int-transpose", "whole numbers, transposed",
              tensor({{{1, 2, 3}, {4, 5, 6}}}).transpose(1, 2));
  }
  manual_seed(789);
  const attention::SelfAttentionV2 v2(3, 2);
  show_weights(walk, seed + "-v2", {v2.W_query.weight, v2.W_key.weight, v2.W_value.weight});
  walk.show(seed + "-self-attention-v2", "SelfAttentionV2", v2(inputs));
  if (seed == "s003") {
    attention::SelfAttentionV1 v1(3, 2);
    v1.copy_weights(v2);
    walk.show("s003-transfer-v2-to-v1", "its weights in plain parameters", v1(inputs));
  }

  walk.section("Seed " + seed.substr(1) + ": hiding the future");
  const CausalRoad road = walk_causal(walk, seed, "", v2, FutureMask::triu);
  const nn::Dropout dropout(0.5);
  manual_seed(123);
  walk.show(seed + "-dropout-ones", "dropout of ones", dropout(ones({6, 6})));
  manual_seed(123);
  if (seed == "s003") {
    walk.show("s003-dropout-causal-weights", "dropout of the causal weights",
              dropout(road.causal_weights));
  } else {
    // The cell ran before the masking: its input is the unmasked weights.
    walk.show("s004-dropout-unmasked-weights", "dropout of the weights before masking",
              dropout(road.weights));
  }
}

void walk_heads(Walk& walk, const std::string& seed) {
  walk.section("Seed " + seed.substr(1) + ": batches and heads");
  const Tensor batch = stack({six_words(), six_words()}, 0);
  walk.show(seed + "-batch-shape", "two times the six words", batch.shape());
  manual_seed(123);
  const Tensor causal = attention::CausalAttention(3, 2, 6, 0.0)(batch);
  walk.show(seed + "-causal-attention", "causal attention", causal);
  walk.show(seed + "-causal-attention-shape", "its shape", causal.shape());
  manual_seed(123);
  const attention::MultiHeadAttentionWrapper wrapper(3, 2, 6, 0.0, 2);
  if (seed == "s004") {
    for (const std::size_t i : {0u, 1u}) {
      const attention::CausalAttention& head = wrapper.heads[i];
      show_weights(walk, tend::as_text("s004-head", i + 1),
                   {head.W_query.weight, head.W_key.weight, head.W_value.weight});
    }
  }
  const Tensor joined = wrapper(batch);
  walk.show(seed + "-multi-head-wrapper", "two heads side by side", joined);
  walk.show(seed + "-multi-head-wrapper-shape", "their shape", joined.shape());
}

void walk_weight_splits(Walk& walk) {
  walk.section("Seed 004: weight splits");
  const Tensor batch = stack({six_words(), six_words()}, 0);
  manual_seed(123);
  const attention::MultiHeadAttention mha(3, 2, 6, 0.0, 2);
  show_weights(walk, "s004-mha", {mha.W_query.weight, mha.W_key.weight, mha.W_value.weight});
  walk.show("s004-mha-out-proj-weight", "its output projection", mha.out_proj.weight.detach());
  walk.show("s004-mha-out-proj-bias", "and bias", mha.out_proj.bias.detach());
  const Tensor context = mha(batch);
  walk.show("s004-multi-head-attention", "multi-head attention", context);
  walk.show("s004-multi-head-attention-shape", "its shape", context.shape());

  const Tensor a = two_heads();
  walk.show("s004-a-batched-gram", "both heads in one product", matmul(a, a.transpose(2, 3)));
  const Tensor first = a[{0, 0, Slice(), Slice()}];
  walk.show("s004-first-head-gram", "only the first head", matmul(first, first.t()));
  const Tensor second = a[{0, 1, Slice(), Slice()}];
  walk.show("s004-second-head-gram", "only the second head", matmul(second, second.t()));
}

void walk_book(Walk& walk, const std::string& seed) {
  walk_simple(walk, seed);
  walk_trainable_weights(walk, seed);
  walk_classes(walk, seed);
  walk_heads(walk, seed);
}

}  // namespace

void walk_seed_003(Walk& walk) {
  walk_book(walk, "s003");
}

void walk_seed_004(Walk& walk) {
  walk_book(walk, "s004");
  walk_weight_splits(walk);
}

}  // namespace chapter3
