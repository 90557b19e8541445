// The rows about the laboratory's experiments, in libtorch.

#include <cmath>

#include "torch.h"
#include "torch_parameters.h"

#include "lab_steps.h"

namespace compare {

Tensor embed(const Tensor& weight, const Tensor& tokens) {
  return at::embedding(weight, tokens);
}

Tensor loss_of(const Tensor& logits, const Tensor& targets) {
  return at::cross_entropy_loss(logits, targets);
}

Tensor attend_causally(const Tensor& query, const Tensor& key, const Tensor& value, bool is_fused) {
  if (is_fused) return attend(query, key, value, {}, true);
  const std::int64_t length = query.size(-2);
  return attend_composed(query, key, value, at::ones({length, length}, at::kBool).tril());
}

Task lab_step(const Work& w, std::uint64_t seed) {
  return chosen_way(w.way, {{"fused", [=] { return lab_task(w, seed, true); }},
                            {"composed", [=] { return lab_task(w, seed, false); }}});
}

}  // namespace compare
