#include "road.h"

#include <cmath>

namespace chapter3 {

using namespace tend;

Tensor six_words() {
  return tensor({{0.43, 0.15, 0.89},    // Your
                 {0.55, 0.87, 0.66},    // journey
                 {0.57, 0.85, 0.64},    // starts
                 {0.22, 0.58, 0.33},    // with
                 {0.77, 0.25, 0.10},    // one
                 {0.05, 0.80, 0.55}});  // step
}

Tensor two_heads() {
  return tensor({{{{0.2745, 0.6584, 0.2775, 0.8573},
                   {0.8993, 0.0390, 0.9268, 0.7388},
                   {0.7179, 0.7058, 0.9156, 0.4340}},
                  {{0.0772, 0.3565, 0.1479, 0.5331},
                   {0.4066, 0.2318, 0.4545, 0.9737},
                   {0.4606, 0.5159, 0.4220, 0.5786}}}});
}

Tensor scores_by_loop(const Tensor& query, const Tensor& inputs) {
  const Tensor scores = empty({inputs.size(0)});
  std::int64_t i = 0;
  for (const Tensor row : inputs) scores[i++] = dot(row, query);
  return scores;
}

Tensor scores_by_loops(const Tensor& inputs) {
  const Tensor scores = empty({inputs.size(0), inputs.size(0)});
  for (std::int64_t i = 0; i < inputs.size(0); ++i) {
    for (std::int64_t j = 0; j < inputs.size(0); ++j) scores[{i, j}] = dot(inputs[i], inputs[j]);
  }
  return scores;
}

Tensor context_by_loop(const Tensor& weights, const Tensor& inputs) {
  const Tensor context = zeros({inputs.size(1)});
  for (std::int64_t i = 0; i < inputs.size(0); ++i) context += weights[i] * inputs[i];
  return context;
}

void walk_one_query(Walk& walk, const std::string& seed, const OneQuery& options) {
  const auto total = [&](const std::string& id, const Tensor& weights) {
    const Tensor sum = weights.sum();
    walk.show(id, "their sum", options.totals_as_numbers ? Value(sum.item()) : Value(sum));
  };
  const Tensor inputs = six_words();
  const Tensor scores = scores_by_loop(inputs[1], inputs);
  walk.show(seed + "-attn-scores-2-loop", "scores of the second word, one dot product at a time",
            scores);
  const Tensor normalized = attention::sum_normalize(scores);
  walk.show(seed + "-sum-normalized-2", "divided by their sum", normalized);
  total(seed + "-sum-normalized-2-total", normalized);
  if (options.naive_softmax) {
    const Tensor naive = attention::softmax_naive(scores);
    walk.show(seed + "-softmax-naive-2", "softmax by its formula", naive);
    if (options.totals_as_numbers) total(seed + "-softmax-naive-2-total", naive);
  }
  const Tensor weights = softmax(scores, 0);
  walk.show(seed + "-softmax-2", "stable softmax", weights);
  total(seed + "-softmax-2-total", weights);
  walk.show(seed + "-context-vec-2-loop", "context vector of the second word",
            context_by_loop(weights, inputs));
}

void show_weights(Walk& walk, const std::string& prefix, const Projections& weights) {
  walk.show(prefix + "-w-query", "its query weights", weights.query.detach());
  walk.show(prefix + "-w-key", "its key weights", weights.key.detach());
  walk.show(prefix + "-w-value", "its value weights", weights.value.detach());
}

CausalRoad walk_causal(Walk& walk, const std::string& seed, const std::string& suffix,
                       const attention::SelfAttentionV2& v2, FutureMask mask) {
  const Tensor inputs = six_words();
  const Tensor queries = v2.W_query(inputs);
  const Tensor keys = v2.W_key(inputs);
  const double scale = std::sqrt(static_cast<double>(keys.size(-1)));
  const Tensor scores = matmul(queries, keys.t());
  walk.show(seed + "-v2-attn-scores" + suffix, "attention scores", scores);
  const Tensor weights = softmax(scores / scale, -1);
  walk.show(seed + "-v2-attn-weights" + suffix, "attention weights", weights);

  const Tensor past = tril(ones({6, 6}));
  walk.show(seed + "-tril-mask", "1 where a word may look", past);
  const Tensor masked = weights * past;
  walk.show(seed + "-masked-simple", "weights times the mask", masked);
  const Tensor row_sums = masked.sum({-1}, /*keepdim=*/true);
  if (seed == "s000") walk.show(seed + "-masked-simple-row-sums", "row sums", row_sums.detach());
  walk.show(seed + "-masked-simple-norm", "renormalised", masked / row_sums);

  const Tensor future = triu(ones({6, 6}), 1);
  if (seed == "s001") walk.show(seed + "-triu-mask", "1 where a word may not look", future);
  const Tensor hidden = mask == FutureMask::triu ? future.to(boolean) : past == 0;
  const Tensor masked_scores = scores.masked_fill(hidden, -kInf);
  walk.show(seed + "-causal-mask-inf", "scores with -inf for the future", masked_scores);
  const Tensor causal = softmax(masked_scores / scale, -1);
  walk.show(seed + "-causal-softmax", "their softmax", causal);
  return {weights, causal};
}

}  // namespace chapter3
