// Beam search. Internal.
#pragma once

#include <cstddef>
#include <vector>

#include <tend/attention/generation/generate.h>

namespace tend::attention {

/// Returns the options.num_samples best continuations of prompts[i], the best one first.
std::vector<TokenSequence> beam_search(const GPT& model, const std::vector<TokenSequence>& prompts,
                                       std::size_t i, const GenerateOptions& options);

}  // namespace tend::attention
