// The choice of the next tokens. Internal.
#pragma once

#include <string>
#include <vector>

#include <tend/attention/generation/generate.h>

namespace tend::attention {

/// Applies the repetition penalty to the logits or log-probabilities (n, vocab_size) of n
/// sequences. It changes the tokens that a sequence already has.
Tensor penalized(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                 double repetition_penalty);

/// Checks that a token can be chosen for each sequence. Messages call a sequence `name` followed by
/// its index.
///
/// Throws: Error - the largest logit of a sequence is NaN or infinite
void check_logits(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                  const std::string& name);

/// Chooses a token for each of n sequences, given their logits (n, vocab_size): the likeliest one,
/// or a random one.
TokenSequence chosen_tokens(const Tensor& logits, const std::vector<TokenSequence>& sequences,
                            const GenerateOptions& options);

/// True if `token` ends a sequence.
bool is_stop(std::int64_t token, const GenerateOptions& options);

}  // namespace tend::attention
