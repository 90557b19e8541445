#include <tend/attention/generation/generate.h>

#include <algorithm>
#include <cmath>

#include <tend/attention/generation/beam_search.h>
#include <tend/attention/generation/continuation.h>
#include <tend/attention/generation/sampling.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/base/error.h>

namespace tend::attention {
namespace {

constexpr const char* kGenerate = "generate";

void check_numbers(const GenerateOptions& o) {
  if (o.max_new_tokens < 0) fail(kGenerate, "max_new_tokens ", o.max_new_tokens, " is negative");
  if (!(o.temperature >= 0 && std::isfinite(o.temperature)))
    fail(kGenerate, "the temperature must be at least 0 and finite, got ", o.temperature);
  if (o.top_k && *o.top_k < 1) fail(kGenerate, "top_k must be at least 1, got ", *o.top_k);
  if (o.top_p && !(*o.top_p > 0 && *o.top_p <= 1))
    fail(kGenerate, "top_p must be in (0, 1], got ", *o.top_p);
  if (o.min_p && !(*o.min_p >= 0 && *o.min_p <= 1))
    fail(kGenerate, "min_p must be in [0, 1], got ", *o.min_p);
  if (!(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty)))
    fail(kGenerate, "the repetition_penalty must be positive and finite, got ",
         o.repetition_penalty);
  if (!std::isfinite(o.length_penalty))
    fail(kGenerate, "the length_penalty must be finite, got ", o.length_penalty);
  if (o.num_samples < 1) fail(kGenerate, "num_samples must be at least 1, got ", o.num_samples);
}

// Refuses options that have no effect with a temperature of 0. The likeliest token remains
// likeliest whatever is removed, and it is the same each time.
void check_drawn(const GenerateOptions& o) {
  if (o.temperature > 0) return;
  const auto refuse_if = [&](bool is_given, const char* name) {
    if (!is_given) return;
    fail(kGenerate, name,
         " has no effect with a temperature of 0, with which nothing is drawn: leave ", name,
         " out", o.num_beams > 1 ? "" : ", or give a temperature above 0");
  };
  refuse_if(o.top_k.has_value(), "top_k");
  refuse_if(o.top_p.has_value(), "top_p");
  refuse_if(o.min_p.has_value(), "min_p");
  if (o.num_samples > 1 && o.num_beams == 1)
    fail(kGenerate, "num_samples ", o.num_samples,
         " would be the same text each time: give a temperature above 0, or num_beams above 1");
}

void check_beams(const GenerateOptions& o) {
  if (o.num_beams < 1) fail(kGenerate, "num_beams must be at least 1, got ", o.num_beams);
  if (o.num_beams == 1) return;
  if (o.temperature != 0) fail(kGenerate, "num_beams above 1 needs a temperature of 0");
  if (o.on_token) fail(kGenerate, "on_token cannot be used with beams");
  if (o.num_samples > o.num_beams)
    fail(kGenerate, "num_samples ", o.num_samples, " exceeds num_beams ", o.num_beams);
}

void check_prompts(const GPT& model, const std::vector<TokenSequence>& prompts,
                   const GenerateOptions& o) {
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (prompts[i].empty()) fail<ShapeError>(kGenerate, "prompt ", i, " is empty");
    for (const std::int64_t token : prompts[i]) {
      if (token >= 0 && token < model.config.vocab_size) continue;
      fail<IndexError>(kGenerate, "token ", token, " of prompt ", i,
                       " is out of range for a vocabulary of ", model.config.vocab_size);
    }
    // The model never reads the last new token.
    const std::int64_t seen = std::max<std::int64_t>(1, o.max_new_tokens) - 1;
    if (seen > model.config.context_length - std::ssize(prompts[i])) {
      fail<ShapeError>(kGenerate, "the ", prompts[i].size(), " tokens of prompt ", i, " and ",
                       o.max_new_tokens,
                       " new ones (without the last) exceed the context_length of ",
                       model.config.context_length);
    }
  }
}

std::vector<TokenSequence> repeated(const std::vector<TokenSequence>& prompts, std::int64_t times) {
  std::vector<TokenSequence> all;
  for (const TokenSequence& prompt : prompts) {
    all.insert(all.end(), static_cast<std::size_t>(times), prompt);
  }
  return all;
}

// Continuations that are independent of each other.
class Samples {
 public:
  Samples(const GPT& model, const std::vector<TokenSequence>& prompts,
          const GenerateOptions& options)
      : options_(options),
        running_(model, prompts, options.max_new_tokens, options.use_cache),
        results_(repeated(prompts, options.num_samples)),
        has_stopped_(results_.size(), false) {}

  std::vector<TokenSequence> draw() {
    for (std::int64_t step = 0; step < options_.max_new_tokens && !is_done_; ++step) {
      const Tensor logits = clear_stopped(step == 0 ? first_logits() : running_.logits());
      check_logits(logits, running_.sequences(), "sequence");
      add(chosen_tokens(logits, running_.sequences(), options_));
    }
    return std::move(results_);
  }

 private:
  // Computes the logits of each prompt once, and repeats them for each of its continuations.
  Tensor first_logits() {
    const Tensor logits = running_.logits();
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < std::ssize(running_.sequences()); ++i) {
      rows.insert(rows.end(), static_cast<std::size_t>(options_.num_samples), i);
    }
    if (options_.num_samples > 1) running_.reorder(rows);
    return options_.num_samples > 1 ? index_select(logits, 0, tensor(rows)) : logits;
  }

  // Sets the logits of sequences that have stopped to zero, since they may be NaN.
  Tensor clear_stopped(const Tensor& logits) const {
    if (std::find(has_stopped_.begin(), has_stopped_.end(), true) == has_stopped_.end())
      return logits;
    return masked_fill(logits, tensor(has_stopped_).unsqueeze(1), 0);
  }

  void add(const TokenSequence& next) {
    running_.append(next);
    is_done_ = true;
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (has_stopped_[i]) continue;
      results_[i].push_back(next[i]);
      if (options_.on_token && !options_.on_token(i, next[i])) {
        is_done_ = true;
        return;
      }
      has_stopped_[i] = is_stop(next[i], options_);
      is_done_ = is_done_ && has_stopped_[i];
    }
  }

  const GenerateOptions& options_;
  Continuation running_;  // also continues sequences that have stopped
  std::vector<TokenSequence> results_;
  std::vector<bool> has_stopped_;
  bool is_done_ = false;
};

// The beams of each prompt. Each prompt is searched separately.
std::vector<TokenSequence> search_each(const GPT& model, const std::vector<TokenSequence>& prompts,
                                       const GenerateOptions& options) {
  std::vector<TokenSequence> results;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (TokenSequence& each : beam_search(model, prompts, i, options)) {
      results.push_back(std::move(each));
    }
  }
  return results;
}

}  // namespace

std::vector<TokenSequence> generate(const GPT& model, const std::vector<TokenSequence>& prompts,
                                    const GenerateOptions& options) {
  check_numbers(options);
  check_beams(options);
  check_drawn(options);
  check_prompts(model, prompts, options);
  if (prompts.empty()) return {};
  if (options.max_new_tokens == 0) return repeated(prompts, options.num_samples);
  return options.num_beams == 1 ? Samples(model, prompts, options).draw()
                                : search_each(model, prompts, options);
}

TokenSequence generate(const GPT& model, const TokenSequence& prompt,
                       const GenerateOptions& options) {
  if (options.num_samples != 1)
    fail(kGenerate, "num_samples must be 1 for one returned sequence, got ", options.num_samples);
  return generate(model, std::vector<TokenSequence>{prompt}, options).at(0);
}

std::vector<TokenSequence> generate(const GPT& model, std::initializer_list<TokenSequence> prompts,
                                    const GenerateOptions& options) {
  return generate(model, std::vector<TokenSequence>(prompts), options);
}

Tensor generate(const GPT& model, const Tensor& prompts, const GenerateOptions& options) {
  if (!prompts.defined()) fail(kGenerate, "the prompts are undefined");
  if (prompts.dtype() != int64)
    fail<DTypeError>(kGenerate, "tokens must be int64, not ", prompts.dtype());
  if (prompts.dim() != 1 && prompts.dim() != 2)
    fail<ShapeError>(kGenerate, "prompts are (tokens) or (prompts, tokens), not ", prompts.shape());
  std::vector<TokenSequence> rows;
  const Tensor table = prompts.dim() == 1 ? prompts.unsqueeze(0) : prompts;
  for (std::int64_t i = 0; i < table.size(0); ++i)
    rows.push_back(table[{i}].to_vector<std::int64_t>());
  std::vector<TokenSequence> found = generate(model, rows, options);
  std::size_t length = 0;
  for (const TokenSequence& each : found) length = std::max(length, each.size());
  TokenSequence tokens;
  for (TokenSequence& each : found) {
    each.resize(length, each.back());
    tokens.insert(tokens.end(), each.begin(), each.end());
  }
  const auto count = static_cast<std::int64_t>(found.size());
  const Tensor result = tensor(tokens, {count, static_cast<std::int64_t>(length)});
  return prompts.dim() == 1 && count == 1 ? result[{0}] : result;
}

}  // namespace tend::attention
