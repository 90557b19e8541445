#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "examples/train/page/report.h"
#include "examples/train/run/model.h"
#include "examples/train/run/sampling.h"
#include "examples/train/task/tasks.h"

namespace train {

// Measures a model on held-out sequences. All functions use evaluation mode and record no graph.

struct Evaluation {
  double loss = 0;         ///< The mean over the tokens of the answers.
  double exact_match = 0;  ///< The share of answers without a mistake (for text: of right bytes).
  std::uint64_t answers = 0;
};

Evaluation evaluate(Model& model, const Task& task, std::span<const Tokens> sequences);

/// Chooses the next token of the sequence with index `row` from its logits.
using ChooseToken = std::function<std::int64_t(std::size_t row, std::span<const float> logits)>;

/// Completes each sequence from position `begin`. Tokens that are not answers do not change.
///
/// Sequences may be longer than the context. Then the model sees the last tokens before each
/// position.
std::vector<Tokens> complete(Model& model, const Task& task, std::vector<Tokens> sequences,
                             std::size_t begin, const ChooseToken& choose);

/// The question of each sequence, with the model's greedy answer.
std::vector<Sample> answer_samples(Model& model, const Task& task,
                                   std::span<const Tokens> sequences);

/// Continues beginnings of a text, which must have the same length. The same seed gives the same
/// samples.
std::vector<Sample> text_samples(Model& model, const Task& task, std::span<const Tokens> beginnings,
                                 const Sampling& sampling, std::uint64_t seed);

/// The sequence with all attention weights and the links of the task's patterns. A long sequence is
/// cut, so that a person can read it.
AttentionExample make_example(Model& model, const Task& task, const Tokens& sequence);

/// The scores of all heads for all_patterns(task) on the sequences, layer by layer.
std::vector<HeadScore> score_heads(Model& model, const Task& task,
                                   std::span<const Tokens> sequences);

/// For each pattern of the task, the head with the largest share of attention on it. `heads` is the
/// number of heads per layer.
std::vector<HeadFinding> find_heads(const Task& task, const std::vector<HeadScore>& scores,
                                    std::size_t heads);

}  // namespace train
