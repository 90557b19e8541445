#include <tend/attention/generation/continuation.h>

#include <algorithm>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

std::size_t longest(const std::vector<TokenSequence>& sequences) {
  std::size_t length = 0;
  for (const TokenSequence& each : sequences) length = std::max(length, each.size());
  return length;
}

}  // namespace

Continuation::Continuation(const GPT& model, const std::vector<TokenSequence>& prompts,
                           std::int64_t new_tokens, bool use_cache)
    : model_(model), sequences_(prompts) {
  const auto length = static_cast<std::int64_t>(longest(prompts));
  if (use_cache) {
    // A model without a table of positions accepts any number of tokens, so the sum may overflow.
    std::int64_t total = 0;
    if (__builtin_add_overflow(length, new_tokens, &total))
      fail<OutOfMemoryError>("generate", new_tokens, " new tokens after ", length, " are too many");
    if (model.config.window && *model.config.window < total) {
      cache_.emplace(KVCacheOptions{.window = model.config.window});
    } else {
      cache_.emplace(KVCacheOptions{.capacity = std::max<std::int64_t>(1, total)});
    }
  }
  for (const TokenSequence& each : prompts) padding_.push_back(length - std::ssize(each));
  if (std::all_of(padding_.begin(), padding_.end(), [](std::int64_t n) { return n == 0; })) {
    padding_.clear();
  }
}

Tensor Continuation::padding() const {
  return padding_.empty() ? Tensor() : tensor(padding_);
}

Tensor Continuation::padded_tokens() const {
  const std::size_t length = longest(sequences_);
  TokenSequence tokens;
  tokens.reserve(length * sequences_.size());
  for (const TokenSequence& each : sequences_) {
    tokens.insert(tokens.end(), length - each.size(), 0);
    tokens.insert(tokens.end(), each.begin(), each.end());
  }
  return tensor(tokens).view({std::ssize(sequences_), -1});
}

Tensor Continuation::logits() {
  const NoGradGuard no_graph;
  Tensor tokens = padded_tokens();
  GPTInputs inputs{.padding = padding(), .last_only = true};
  if (cache_) {
    inputs.cache = &*cache_;
    tokens = tokens.narrow(1, cache_->length(), tokens.size(1) - cache_->length());
  }
  return model_(tokens, inputs).select(1, -1);
}

void Continuation::append(const TokenSequence& next) {
  for (std::size_t i = 0; i < next.size(); ++i) sequences_[i].push_back(next[i]);
}

void Continuation::reorder(const std::vector<std::int64_t>& rows) {
  std::vector<TokenSequence> sequences;
  std::vector<std::int64_t> padded;
  for (const std::int64_t row : rows) {
    const auto i = static_cast<std::size_t>(row);
    sequences.push_back(sequences_[i]);
    if (!padding_.empty()) padded.push_back(padding_[i]);
  }
  if (cache_) cache_->reorder(tensor(rows));
  sequences_ = std::move(sequences);
  padding_ = std::move(padded);
}

}  // namespace tend::attention
