/// \file
/// Text generation: a GPT continues prompts.
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

/// How tokens are chosen. By default each token is the likeliest one; a temperature or beams change
/// that.
struct GenerateOptions {
  std::int64_t max_new_tokens = 50;
  /// Above 0, tokens are drawn from softmax(logits / temperature) by the default generator. The
  /// same manual_seed gives the same tokens.
  double temperature = 0.0;
  // The next three options restrict which tokens can be drawn, and are applied in this order. By
  // default all tokens can be drawn. Tokens that are tied at the limit stay. With a temperature of
  // 0 nothing is drawn, so each of these options is then an Error, even top_k = 1.
  std::optional<std::int64_t> top_k = {};  ///< the k likeliest
  /// The smallest set of likeliest tokens with at least this total probability (Holtzman et al.
  /// 2020, https://arxiv.org/abs/1904.09751).
  std::optional<double> top_p = {};
  /// The tokens with at least this share of the likeliest token's probability (Nguyen et al. 2024,
  /// https://arxiv.org/abs/2407.01082).
  std::optional<double> min_p = {};
  /// For a token that the sequence already has, a positive logit is divided by this number, and a
  /// negative logit is multiplied by it (Keskar et al. 2019, https://arxiv.org/abs/1909.05858).
  double repetition_penalty = 1.0;
  /// A sequence ends at the first of these tokens, which becomes its last token.
  std::vector<std::int64_t> stop_tokens = {};
  /// The number of continuations of each prompt. More than one continuation needs a temperature
  /// above 0 or beams (Error), since the continuations would otherwise be equal.
  std::int64_t num_samples = 1;
  /// Above 1, beam search follows this number of sequences. It returns the num_samples best, the
  /// best one first. A sequence's score is the sum of its new tokens' log-probabilities, divided by
  /// (number of new tokens)^length_penalty. If beam search finds fewer sequences, it returns fewer.
  /// With several prompts, the results then do not show which sequence belongs to which prompt.
  std::int64_t num_beams = 1;
  double length_penalty = 1.0;
  /// Stores the keys and values of earlier tokens (KVCache) instead of computing them again.
  Flag use_cache = true;
  /// Called with the index of a sequence and its new token, as soon as the token is chosen. If it
  /// returns false, the generation ends. on_token cannot be used with beams (Error).
  std::function<bool(std::size_t sequence, std::int64_t token)> on_token = {};
};

/// Continues prompts with a GPT, and returns the prompts with their continuations: num_samples
/// sequences for the first prompt, then num_samples for the second, and so on.
///
/// Prompts may have different lengths. Shorter ones are padded at the left, and no token attends to
/// padding. Call model.eval() first, unless dropout is wanted. With beams, one prompt is searched
/// after the other.
///
/// Names and meanings are as in Hugging Face's generate, except:
/// - num_samples is num_return_sequences there, stop_tokens is eos_token_id, a temperature of 0 is
///   do_sample=False, and on_token is streamer.
/// - top_p keeps ties.
/// - top_k keeps all tokens by default; there the default is 50.
///
/// Throws:
///   ShapeError - a prompt is empty
///   ShapeError - a prompt and its new tokens, except for the last one, exceed the context_length;
///                the model never reads the last one
///   IndexError - a token is outside of the vocabulary
///   Error      - an option is out of range, or options contradict each other
///   Error      - the largest logit for a sequence is NaN or infinite; the message names the
///                sequence
std::vector<TokenSequence> generate(const GPT& model, const std::vector<TokenSequence>& prompts,
                                    const GenerateOptions& options = {});
/// For one prompt and one continuation.
///
/// Throws: Error - num_samples is not 1
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
/// For int64 tensors: one prompt (tokens), or several of one length, (prompts, tokens).
///
/// The result is (tokens) for one prompt with one continuation, otherwise (sequences, tokens). A
/// sequence that ended earlier is filled up with its last token.
///
/// Throws:
///   DTypeError - the tokens are not int64
///   ShapeError - the prompts have neither one nor two dimensions
///   Error      - the tensor is undefined
Tensor generate(const GPT& model, const Tensor& prompts, const GenerateOptions& options = {});

}  // namespace tend::attention
