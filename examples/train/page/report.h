#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "examples/train/task/tasks.h"

namespace train {

/// The results of a validation on held-out sequences, after `step` steps.
struct Validation {
  std::uint64_t step;
  double loss;
  double exact_match;
};

/// The share of right answers in a check after `step` steps. If the share is below 1, the run
/// continues. The sequences of a check are held out, and are not used for the report's results.
struct Check {
  std::uint64_t step;
  double exact_match;
};

/// One sequence with the model's predictions and attention weights.
struct AttentionExample {
  std::vector<std::string> inputs;  ///< The label of each token that the model reads.
  /// The predicted next tokens; an empty string at positions without an answer.
  std::vector<std::string> predictions;
  std::vector<bool> correct;  ///< True if the prediction is right.
  /// [layer][head]: row-major (query, key), each row a distribution over the keys.
  std::vector<std::vector<std::vector<float>>> weights;
  std::vector<std::vector<Link>> links;  ///< The links of each finding's pattern in this sequence.
};

/// The scores of a head, on average over held-out sequences.
struct HeadScore {
  /// The share of the head's attention on each pattern; NaN if the sequences do not have the
  /// pattern.
  std::vector<double> shares;
  double entropy = 0;  ///< The mean entropy of a query, in nats, without the first query.
};

/// The scores of all heads after a step, layer by layer.
struct HeadsAtStep {
  std::uint64_t step;
  std::vector<HeadScore> heads;
};

/// The head with the largest share of attention on a pattern. Layers and heads are counted from 1.
struct HeadFinding {
  std::string pattern;
  std::string words;
  std::size_t layer;
  std::size_t head;
  double mean_weight;  ///< The mean over held-out sequences.
};

/// A beginning of a sequence, and the model's continuation.
struct Sample {
  std::string question;
  std::string answer;
  std::string expected;  ///< The right answer. Empty for texts, which have no right answer.
};

/// The contents of the page. The fields are plain text, which the page escapes.
struct Report {
  std::string task;
  std::string goal;
  /// The number of steps of the shown model. After a failure this is less than the number of steps
  /// of the run.
  std::uint64_t steps_done = 0;
  std::uint64_t steps_planned = 0;
  std::string verdict;  ///< Says that the task was not learned, or empty.
  std::string failure;  ///< Why the training could not continue, or empty.
  double seconds = 0;
  double tokens_per_second = 0;
  std::uint64_t parameters = 0;
  double exact_match = 0;      ///< The share of right held-out answers (for text: of right bytes).
  double validation_loss = 0;  ///< The loss on the held-out sequences.
  std::uint64_t held_out = 0;  ///< The number of held-out answers.
  std::vector<double> losses;  ///< One per step.
  std::vector<Validation> validations;
  std::vector<Check> checks;
  std::vector<AttentionExample> examples;  ///< All have one size; the page's reader chooses.
  std::vector<HeadFinding> findings;       ///< The most informative comes first.
  std::vector<std::string> patterns;       ///< The task's patterns, then the general ones.
  std::vector<HeadScore> scores;           ///< The scores of all heads, layer by layer.
  std::vector<HeadsAtStep> over_time;      ///< The scores during training, on fewer sequences.
  std::vector<Sample> samples;
  std::string decoding = "greedily";  ///< How the tokens of the samples were chosen.
  std::vector<std::pair<std::string, std::string>> options;
};

/// A sentence about each check: its result, and whether the run continued.
std::vector<std::string> check_lines(const Report& report);

/// The page: one HTML document that needs no other files. It has light and dark colours, and fits
/// wide and narrow screens.
std::string render_html(const Report& report);

}  // namespace train
