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

// What a model does on held-out sequences; all in evaluation mode and without a graph.

struct Evaluation {
  double loss = 0;         ///< Mean over the answers' tokens.
  double exact_match = 0;  ///< Share of sequences answered without a mistake (for text: of bytes).
  std::uint64_t answers = 0;
};

Evaluation evaluate(Model& model, const Task& task, std::span<const Tokens> sequences);

/// Chooses each row's next token from its logits.
using ChooseToken = std::function<std::int64_t(std::size_t row, std::span<const float> logits)>;

/// The model's completion of each sequence from position `begin` on: tokens that are not answers
/// stay as they are. Sequences may be longer than the context, which then slides.
std::vector<Tokens> complete(Model& model, const Task& task, std::vector<Tokens> sequences,
                             std::size_t begin, const ChooseToken& choose);

/// Each sequence's question with the model's greedy answer.
std::vector<Sample> answer_samples(Model& model, const Task& task,
                                   std::span<const Tokens> sequences);

/// Beginnings of a text, all of one length, with what the model writes after them: the same for the
/// same seed.
std::vector<Sample> text_samples(Model& model, const Task& task, std::span<const Tokens> beginnings,
                                 const Sampling& sampling, std::uint64_t seed);

/// The sequence with all attention weights and the links of the task's patterns, or as much of its
/// beginning as a person wants to read.
AttentionExample make_example(Model& model, const Task& task, const Tokens& sequence);

/// All heads' scores for all_patterns(task) on the sequences, layer by layer.
std::vector<HeadScore> score_heads(Model& model, const Task& task,
                                   std::span<const Tokens> sequences);

/// For each pattern of the task the head that follows it best; a layer has `heads`.
std::vector<HeadFinding> find_heads(const Task& task, const std::vector<HeadScore>& scores,
                                    std::size_t heads);

}  // namespace train
