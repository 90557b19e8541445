// Seed 000: all steps by hand, with a causal mask that hides the wrong side.
#include <cmath>

#include "road.h"

namespace chapter3 {

using namespace tend;

namespace {

void walk_dot_products(Walk& walk) {
  walk.section("Seed 000: one dot product");
  const Tensor inputs = six_words();
  walk.show("s000-inputs-shape", "six words, three numbers each", inputs.shape());
  const Tensor query = inputs[1];
  walk.show("s000-input-query", "the second word", query);
  walk.show("s000-input-1", "the first word", inputs[0]);
  walk.show("s000-dot-by-hand-python", "their dot product by hand, in doubles",
            0.55 * 0.43 + 0.87 * 0.15 + 0.66 * 0.89);
  walk.show("s000-dot-query-input1", "by dot", dot(query, inputs[0]));
  Tensor sum = tensor(0.0);
  for (std::int64_t i = 0; i < 3; ++i) sum += inputs[{3, i}] * query[i];
  walk.show("s000-dot-elementwise-loop", "the fourth word, element by element", sum);
  walk.show("s000-dot-input3-query", "and by dot", dot(inputs[3], query));
  walk.show("s000-inputs-dim0", "number of words", inputs.size(0));

  walk_one_query(walk, "s000", {.naive_softmax = true});
  const Tensor weights = softmax(scores_by_loop(query, inputs), 0);
  std::vector<double> items;
  for (const Tensor weight : weights) items.push_back(weight.item());
  walk.show("s000-weight-items-17-digits", "the weights as Python floats", items);
  walk.show("s000-weight-items-rows", "next to the rows that they weigh", inputs);
}

void walk_all_pairs(Walk& walk) {
  walk.section("Seed 000: all words at once");
  const Tensor inputs = six_words();
  walk.show("s000-inputs-dim0-again", "number of words", inputs.size(0));
  walk.show("s000-attn-scores-loop", "scores by two loops", scores_by_loops(inputs));
  const Tensor scores = matmul(inputs, inputs.t());
  walk.show("s000-attn-scores-matmul", "scores by one product", scores);
  const Tensor weights = softmax(scores, 1);
  walk.show("s000-attn-weights", "weights", weights);
  walk.show("s000-inputs", "the inputs", inputs);
  walk.show("s000-inputs-transposed", "transposed", inputs.t());
  walk.show("s000-attn-weights-two-lines", "the weights in one line",
            softmax(matmul(inputs, inputs.t()), 1));
  const Tensor context = matmul(weights, inputs);
  walk.show("s000-context-vecs-shape", "shape of the context vectors", context.shape());
  walk.show("s000-context-vecs", "context vectors", context);
  walk.show("s000-inputs-again-257", "the inputs again", inputs);
}

// The notebook's cells ran out of order. The matrix that it prints as W_query is the key matrix of
// the later cells, and two of the matrices are never printed. All are random numbers from seed 123.
void walk_trainable_weights(Walk& walk) {
  walk.section("Seed 000: trainable weights");
  manual_seed(123);
  std::vector<nn::Parameter> draws;
  draws.reserve(6);
  for (int i = 0; i < 6; ++i) draws.emplace_back(randn({3, 2}));
  walk.show("s000-w-query-printed", "printed as W_query", draws[1]);
  walk.show("s000-w-key-printed", "printed as W_key", draws[5]);
  walk.show("s000-w-value-printed", "printed as W_value", draws[4]);
  walk.show("s000-w-query-hidden", "the W_query in use", draws[0].detach());
  walk.show("s000-w-value-hidden", "the W_value in use", draws[3].detach());

  const Tensor inputs = six_words();
  const Tensor query = matmul(inputs[1], draws[0]);
  walk.show("s000-query-2", "query of the second word", query);
  const Tensor keys = matmul(inputs, draws[1]);
  walk.show("s000-keys", "keys", keys);
  const Tensor values = matmul(inputs, draws[3]);
  walk.show("s000-values", "values", values);
  walk.show("s000-keys-2", "key of the second word", keys[1]);
  walk.show("s000-attn-score-22", "its score with itself", dot(query, keys[1]));
  const Tensor scores = matmul(query, keys.t());
  walk.show("s000-attn-scores-2-trainable", "its scores with all", scores);
  const std::int64_t d_k = keys.size(1);
  walk.show("s000-d-k", "key width", d_k);
  const Tensor weights = softmax(scores / std::sqrt(static_cast<double>(d_k)), -1);
  walk.show("s000-attn-weights-2-scaled", "its weights", weights);
  walk.show("s000-attn-weights-2-scaled-total", "their sum", weights.sum());
  walk.show("s000-context-vec-2-trainable", "its context vector", matmul(weights, values));
}

void walk_modules(Walk& walk) {
  walk.section("Seed 000: self-attention classes");
  const Tensor inputs = six_words();
  manual_seed(123);
  const attention::SelfAttentionV1 v1(3, 2, attention::Draw::normal);
  show_weights(walk, "s000-v1", {v1.W_query, v1.W_key, v1.W_value});
  walk.show("s000-self-attention-v1", "SelfAttentionV1", v1(inputs));
  walk.show("s000-linear-2x3-weight", "weight of a Linear(2, 3) made next",
            nn::Linear(2, 3).weight);
  manual_seed(123);
  const attention::SelfAttentionV2 v2(3, 2);
  show_weights(walk, "s000-v2", {v2.W_query.weight, v2.W_key.weight, v2.W_value.weight});
  walk.show("s000-self-attention-v2", "SelfAttentionV2", v2(inputs));

  walk.section("Seed 000: hiding the future");
  const Tensor causal = walk_causal(walk, "s000", "", v2, FutureMask::tril_is_zero).causal_weights;
  const nn::Dropout dropout(0.5);
  manual_seed(123);
  walk.show("s000-dropout-ones", "dropout of ones", dropout(ones({6, 6})));
  const Generator before_second = get_rng_state();
  walk.show("s000-dropout-second-mask", "the next dropout mask", dropout(ones({6, 6})));
  set_rng_state(before_second);
  walk.show("s000-dropout-causal-weights", "that mask on the causal weights", dropout(causal));
  walk.show("s000-inputs-again-333", "the inputs again", inputs);
}

// The notebook's CausalAttention hides the present and the past, because its mask is tril(ones).
// The last query sees no key, so its row is NaN. tend's CausalAttention has the right mask, so this
// class builds the wrong one from operations.
class InvertedCausalAttention : public nn::Module<InvertedCausalAttention> {
 public:
  explicit InvertedCausalAttention(double p)
      : W_query(3, 2, false),
        W_key(3, 2, false),
        W_value(3, 2, false),
        dropout(p),
        mask(tril(ones({6, 6}))) {}

  Tensor forward(const Tensor& x) const {
    const Tensor keys = W_key(x);
    const Tensor scores = matmul(W_query(x), keys.transpose(1, 2));
    scores.masked_fill_(mask.to(boolean), -kInf);
    const Tensor weights = dropout(softmax(scores / std::sqrt(2.0), -1));
    return matmul(weights, W_value(x));
  }

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_BUFFER(mask);
};

void walk_inverted_mask(Walk& walk) {
  walk.section("Seed 000: batches, dropout, and a mask that hides the past");
  const Tensor batch = stack({six_words(), six_words()}, 0);
  walk.show("s000-batch-shape", "two times the six words", batch.shape());
  const nn::Dropout dropout(0.5);
  manual_seed(123);
  InvertedCausalAttention one(0.5);
  const Generator before_forward = get_rng_state();
  walk.show("s000-causal-attention-dropout-mask", "the dropout mask of the next step",
            dropout(ones({2, 6, 6})));
  set_rng_state(before_forward);
  walk.show("s000-causal-attention-tril-dropout", "CausalAttention with the inverted mask",
            one(batch));
  one.eval();
  walk.show("s000-causal-attention-tril-no-dropout", "without dropout", one(batch).detach());

  manual_seed(123);
  nn::ModuleList<InvertedCausalAttention> heads;
  for (int i = 0; i < 2; ++i) heads.emplace_back(0.5);
  const Generator before_heads = get_rng_state();
  const Tensor first = dropout(ones({2, 6, 6}));
  const Tensor second = dropout(ones({2, 6, 6}));
  walk.show("s000-multi-head-dropout-masks", "the two dropout masks of the next step",
            stack({first, second}, 0));
  set_rng_state(before_heads);
  std::vector<Tensor> contexts;
  for (const InvertedCausalAttention& head : heads) contexts.push_back(head(batch));
  walk.show("s000-multi-head-tril-dropout", "two such heads", cat(contexts, -1));
}

}  // namespace

void walk_seed_000(Walk& walk) {
  walk_dot_products(walk);
  walk_all_pairs(walk);
  walk_trainable_weights(walk);
  walk_modules(walk);
  walk_inverted_mask(walk);
}

}  // namespace chapter3
