// Beam search. Internal.
#pragma once

#include <vector>

#include <tend/attention/generation/generate.h>

namespace tend::attention {

/// The options.num_samples best continuations of a prompt, best first.
std::vector<TokenSequence> beam_search(const GPT& model, const TokenSequence& prompt,
                                       const GenerateOptions& options);

}  // namespace tend::attention
