// The rows about the laboratory's experiments, in tend.

#include "tend.h"

#include "lab_steps.h"

namespace compare {

Tensor embed(const Tensor& weight, const Tensor& tokens) {
  return embedding(weight, tokens);
}

Tensor loss_of(const Tensor& logits, const Tensor& targets) {
  return cross_entropy(logits, targets);
}

Tensor attend_causally(const Tensor& query, const Tensor& key, const Tensor& value, bool) {
  return tend::attention::scaled_dot_product_attention(query, key, value, {.is_causal = true});
}

Task lab_step(const Work& w, std::uint64_t seed) {
  return lab_task(w, seed, true);
}

}  // namespace compare
