// Seed 002: multi-head attention with weight splits, one step at a time.
#include <limits>

#include "road.h"

namespace chapter3 {

using namespace tend;

namespace {

Tensor three_words() {
  return tensor({{0.43, 0.15, 0.89, 0.55, 0.87, 0.66},
                 {0.57, 0.85, 0.64, 0.22, 0.58, 0.33},
                 {0.77, 0.25, 0.10, 0.05, 0.80, 0.55}});
}

void walk_class(Walk& walk) {
  walk.section("Seed 002: the class");
  const Tensor batch = stack({three_words(), three_words()}, 0);
  walk.show("s002-batch-shape", "the input twice", batch.shape());
  const std::int64_t d_in = batch.size(-1);
  const std::int64_t d_out = 6;
  const std::int64_t context_length = batch.size(1);
  const std::int64_t num_heads = 2;
  walk.show("s002-dimensions", "d_in, d_out, context length",
            std::vector<double>{static_cast<double>(d_in), static_cast<double>(d_out),
                                static_cast<double>(context_length)});
  manual_seed(123);
  const attention::MultiHeadAttention mha(d_in, d_out, context_length, 0.0, num_heads);
  const std::int64_t head_dim = d_out / mha.num_heads;
  walk.show("s002-dropout-heads-headdim", "dropout, heads, width of a head",
            std::vector<double>{mha.dropout.p, static_cast<double>(mha.num_heads),
                                static_cast<double>(head_dim)});
  show_weights(walk, "s002-mha", {mha.W_query.weight, mha.W_key.weight, mha.W_value.weight});
  walk.show("s002-mha-out-proj-weight", "its output projection", mha.out_proj.weight.detach());
  walk.show("s002-mha-out-proj-bias", "and bias", mha.out_proj.bias.detach());
  walk.show("s002-multi-head-attention", "its context vectors", mha(batch));
}

void show_with_shape(Walk& walk, const std::string& id, const std::string& what,
                     const Tensor& tensor) {
  walk.show(id, what, tensor);
  walk.show(id + "-shape", "its shape", tensor.shape());
}

struct Heads {
  Tensor queries, keys, values;
};

// From the input to queries, keys and values per head, (2, 2, 3, 3).
Heads walk_split(Walk& walk) {
  const Tensor inputs = three_words();
  const std::int64_t head_dim = inputs.size(1) / 2;
  walk.show(
      "s002-step-dimensions", "context length, d_in, d_out, heads, width of a head",
      std::vector<double>{static_cast<double>(inputs.size(0)), static_cast<double>(inputs.size(1)),
                          static_cast<double>(inputs.size(1)), 2, static_cast<double>(head_dim)});
  show_with_shape(walk, "s002-inputs-test", "the input", inputs);
  manual_seed(50);
  const Tensor w_query = rand({6, 6});
  const Tensor w_key = rand({6, 6});
  const Tensor w_value = rand({6, 6});
  show_with_shape(walk, "s002-w-query", "query weights", w_query);
  show_with_shape(walk, "s002-w-key", "key weights", w_key);
  show_with_shape(walk, "s002-w-value", "value weights", w_value);

  const Tensor batch = stack({inputs, inputs}, 0);
  const Tensor queries = matmul(batch, w_query);
  const Tensor keys = matmul(batch, w_key);
  const Tensor values = matmul(batch, w_value);
  show_with_shape(walk, "s002-queries", "queries", queries);
  show_with_shape(walk, "s002-keys", "keys", keys);
  show_with_shape(walk, "s002-values", "values", values);

  const Shape split{2, 3, 2, 3};
  show_with_shape(walk, "s002-queries-split", "queries, split into heads", queries.view(split));
  show_with_shape(walk, "s002-keys-split", "keys, split", keys.view(split));
  show_with_shape(walk, "s002-values-split", "values, split", values.view(split));

  Heads heads{queries.view(split).transpose(1, 2), keys.view(split).transpose(1, 2),
              values.view(split).transpose(1, 2)};
  show_with_shape(walk, "s002-queries-heads", "queries, heads first", heads.queries);
  show_with_shape(walk, "s002-keys-heads", "keys, heads first", heads.keys);
  show_with_shape(walk, "s002-values-heads", "values, heads first", heads.values);
  walk.show("s002-keys-shape-recap", "shape of the keys", keys.shape());
  walk.show("s002-keys-split-shape-recap", "after the split", split);
  walk.show("s002-keys-heads-shape-recap", "after the transposition", heads.keys.shape());
  return heads;
}

void walk_steps(Walk& walk) {
  walk.section("Seed 002: step by step");
  const Heads heads = walk_split(walk);
  const Tensor keys_transposed = heads.keys.transpose(2, 3);
  walk.show("s002-keys-heads-transposed", "keys, last dimensions swapped", keys_transposed);
  const Tensor scores = matmul(heads.queries, keys_transposed);
  show_with_shape(walk, "s002-attn-scores", "scores", scores);
  const Tensor mask = triu(ones({3, 3}), 1);
  walk.show("s002-triu-mask", "1 where a word may not look", mask);
  const Tensor masked =
      scores.masked_fill(mask.to(boolean), -std::numeric_limits<double>::infinity());
  walk.show("s002-causal-mask-inf", "scores with -inf for the future", masked);
  const Tensor scaled = masked / sqrt(tensor(heads.keys.size(-1)));
  walk.show("s002-scaled-masked-scores", "scaled", scaled);
  const Tensor weights = softmax(scaled, -1);
  walk.show("s002-attn-weights", "weights", weights);
  const Tensor kept = nn::Dropout(0.0)(weights);
  show_with_shape(walk, "s002-dropout-p0", "after dropout with p = 0", kept);
  walk.show("s002-attn-weights-shape-recap", "shape of the weights", kept.shape());
  walk.show("s002-values-heads-shape-recap", "shape of the values", heads.values.shape());
  const Tensor context = matmul(kept, heads.values).transpose(1, 2);
  show_with_shape(walk, "s002-context-heads-swapped", "context vectors, tokens first", context);
  show_with_shape(walk, "s002-context-merged", "heads merged",
                  context.contiguous().view({2, 3, 6}));
}

}  // namespace

void walk_seed_002(Walk& walk) {
  walk_class(walk);
  walk_steps(walk);
}

}  // namespace chapter3
