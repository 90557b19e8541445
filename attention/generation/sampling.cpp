#include <tend/attention/generation/sampling.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tend/attention/functions/mask.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/base/error.h>

namespace tend::attention {
namespace {

Tensor without(const Tensor& logits, const Tensor& removed) {
  return masked_fill(logits, removed, detail::kHidden);
}

Tensor keep_top_k(const Tensor& logits, std::int64_t k) {
  const Tensor largest = topk(logits, std::min(k, logits.size(-1))).values;
  return without(logits, logits < largest.narrow(-1, largest.size(-1) - 1, 1));
}

// Removes the least likely tokens whose total probability is at most 1 - p. A token that is as
// likely as a remaining one stays.
Tensor keep_top_p(const Tensor& logits, double p) {
  const Tensor values = sort(logits, -1).values;
  const Tensor below = cumsum(softmax(values, -1), -1) <= 1 - p;
  below.select(-1, -1).fill_(false);
  const Tensor lowest = amin(masked_fill(values, below, -detail::kHidden), {-1}, true);
  return without(logits, logits < lowest);
}

Tensor keep_min_p(const Tensor& logits, double share) {
  const Tensor probabilities = softmax(logits, -1);
  return without(logits, probabilities < amax(probabilities, {-1}, true) * share);
}

}  // namespace

Tensor penalized(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                 double repetition_penalty) {
  if (repetition_penalty == 1) return logits;
  Tensor result = logits.clone();
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Tensor row = result.select(0, static_cast<std::int64_t>(i));
    const Tensor tokens = tensor(sequences[i]);
    const Tensor before = index_select(row, 0, tokens);
    row.index_copy_(0, tokens,
                    where(before < 0, before * repetition_penalty, before / repetition_penalty));
  }
  return result;
}

void check_logits(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                  const std::string& name) {
  const auto largest = amax(logits, {-1}).to(float64).to_vector<double>();  // NaN if any logit is
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (std::isfinite(largest[i])) continue;
    fail("generate", name, ' ', i, ": the largest logit for the token at position ",
         sequences[i].size(), " is ", largest[i]);
  }
}

TokenSequence chosen_tokens(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                            const GenerateOptions& options) {
  Tensor scores = penalized(logits, sequences, options.repetition_penalty);
  // Dividing by a small penalty may overflow.
  if (options.repetition_penalty != 1) check_logits(scores, sequences, "sequence");
  if (options.temperature == 0) return argmax(scores, -1).to_vector<std::int64_t>();
  // The largest score becomes 0, so no division makes it infinite. A tiny temperature that rounds
  // to 0 in float32 would give 0 / 0, which is NaN.
  scores = (scores - amax(scores, {-1}, true)) /
           std::max<double>(options.temperature, std::numeric_limits<float>::min());
  if (options.top_k) scores = keep_top_k(scores, *options.top_k);
  if (options.top_p) scores = keep_top_p(scores, *options.top_p);
  if (options.min_p) scores = keep_min_p(scores, *options.min_p);
  return multinomial(softmax(scores, -1), 1).to_vector<std::int64_t>();
}

bool is_stop(std::int64_t token, const GenerateOptions& options) {
  const auto& stops = options.stop_tokens;
  return std::find(stops.begin(), stops.end(), token) != stops.end();
}

}  // namespace tend::attention
