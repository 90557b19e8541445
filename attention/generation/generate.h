/// \file
/// Continuations of texts by a GPT.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include <tend/attention/models/gpt.h>
#include <tend/core/base/error.h>

namespace tend::attention {

using TokenSequence = std::vector<std::int64_t>;

/// How tokens are chosen. The likeliest ones are, unless there is a temperature or there are beams.
struct GenerateOptions {
  std::int64_t max_new_tokens = 50;
  /// Above 0, tokens are drawn from softmax(logits / temperature), by the default generator: the
  /// same ones after the same manual_seed.
  double temperature = 0.0;
  // Which tokens can be drawn, applied in this order; all unless given. Ties at the edge stay. With
  // a temperature of 0 nothing is drawn, so that these are an Error (also top_k = 1, which is what
  // a temperature of 0 does by itself).
  std::optional<std::int64_t> top_k = {};  ///< the k likeliest
  /// The likeliest that together have at least this probability (Holtzman et al. 2020,
  /// https://arxiv.org/abs/1904.09751).
  std::optional<double> top_p = {};
  /// Those with at least this share of the likeliest one's probability (Nguyen et al. 2024,
  /// https://arxiv.org/abs/2407.01082).
  std::optional<double> min_p = {};
  /// Positive logits of tokens that a sequence has are divided by it, others multiplied (Keskar et
  /// al. 2019, https://arxiv.org/abs/1909.05858).
  double repetition_penalty = 1.0;
  /// A sequence ends with the first of these, which it keeps.
  std::vector<std::int64_t> stop_tokens = {};
  /// How many continuations each prompt gets. Error for more than one with a temperature of 0 and
  /// one beam, which would be the same.
  std::int64_t num_samples = 1;
  /// Above 1, beam search: so many sequences are followed, and the num_samples best are given, best
  /// first, by the sum of their tokens' log-probabilities / (new tokens)^length_penalty: fewer
  /// where there are no more, so that only a single prompt tells whose they are.
  std::int64_t num_beams = 1;
  double length_penalty = 1.0;
  /// Keeps keys and values of the tokens before (KVCache) instead of computing them again.
  Flag use_cache = true;
  /// Is told each new token with the number of its sequence, as soon as it is chosen; false ends
  /// the generation. Not with beams.
  std::function<bool(std::size_t sequence, std::int64_t token)> on_token = {};
};

/// The prompts with their continuations: num_samples sequences for the first, then those of the
/// second, ... Prompts may have different lengths; shorter ones are padded at the left, which
/// nobody sees. Call model.eval() first, unless dropout is wanted. ShapeError for an empty prompt,
/// and where a prompt and its new tokens exceed the model's context_length, without the last, which
/// the model never sees; IndexError for tokens outside of the vocabulary; Error for options that
/// cannot be, and, naming sequence and token, where the largest logit is NaN or infinite. Beams of
/// several prompts are searched one prompt after the other. Meanings are those of Hugging Face's
/// generate, and so are names, but for num_samples (num_return_sequences there), stop_tokens
/// (eos_token_id), a temperature of 0 (do_sample=False) and on_token (streamer); top_p keeps ties,
/// and top_k, which is 50 there, keeps all unless given.
std::vector<TokenSequence> generate(const GPT& model, const std::vector<TokenSequence>& prompts,
                                    const GenerateOptions& options = {});
/// For one prompt, and one continuation (Error for more).
TokenSequence generate(const GPT& model, const TokenSequence& prompt,
                       const GenerateOptions& options = {});
/// For one prompt in braces: generate(model, {1, 2}).
template <std::integral Token>
TokenSequence generate(const GPT& model, std::initializer_list<Token> prompt,
                       const GenerateOptions& options = {}) {
  return generate(model, TokenSequence(prompt.begin(), prompt.end()), options);
}
/// For prompts in braces: generate(model, {{1, 2}, {3}}).
std::vector<TokenSequence> generate(const GPT& model, std::initializer_list<TokenSequence> prompts,
                                    const GenerateOptions& options = {});
/// For one prompt, (tokens), or several of one length, (prompts, tokens), as int64. The result is
/// (tokens) for a single sequence from a single prompt, else (sequences, tokens); what is shorter,
/// since it ended earlier, is filled up with its last token. DTypeError for tokens that are not
/// int64, ShapeError for other dimensions.
Tensor generate(const GPT& model, const Tensor& prompts, const GenerateOptions& options = {});

}  // namespace tend::attention
