// The choice of the next tokens. Internal.
#pragma once

#include <string>
#include <vector>

#include <tend/attention/generation/generate.h>

namespace tend::attention {

/// Logits or log-probabilities (n, vocab_size) with the repetition penalty for the tokens of n
/// sequences.
Tensor penalized(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                 double repetition_penalty);

/// Error for a sequence whose largest logit is NaN or infinite, as no token can be chosen then. The
/// message calls it `name` and its number.
void check_logits(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                  const std::string& name);

/// A token for each of n sequences, given their logits (n, vocab_size): the likeliest, or a drawn
/// one.
TokenSequence chosen_tokens(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                            const GenerateOptions& options);

/// Whether a sequence ends with `token`.
bool is_stop(std::int64_t token, const GenerateOptions& options);

}  // namespace tend::attention
