#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "examples/train/task/tasks.h"

namespace train {

/// What a validation on held-out sequences found after `step` steps.
struct Validation {
  std::uint64_t step;
  double loss;
  double exact_match;
};

/// Which share of the check's sequences was answered right after `step` steps: all, or the run goes
/// on. They are held out, and others than those that the report's numbers are of.
struct Check {
  std::uint64_t step;
  double exact_match;
};

/// One sequence as a model with attention weights saw it.
struct AttentionExample {
  std::vector<std::string> inputs;       ///< The label of each token that the model sees.
  std::vector<std::string> predictions;  ///< What it predicts there; empty where nothing is asked.
  std::vector<bool> correct;             ///< Whether the prediction is right.
  /// [layer][head]: row-major (query, key), each row a distribution over the keys.
  std::vector<std::vector<std::vector<float>>> weights;
  std::vector<std::vector<Link>> links;  ///< Of each finding's pattern in this sequence.
};

/// What a head does, on average over held-out sequences.
struct HeadScore {
  std::vector<double> shares;  ///< Of its attention on each pattern; NaN where a pattern never was.
  double entropy = 0;          ///< Of a query's weights, in nats; the first query has no choice.
};

/// The scores of all heads after a step: layer by layer.
struct HeadsAtStep {
  std::uint64_t step;
  std::vector<HeadScore> heads;
};

/// The head that follows a pattern best. Layers and heads are counted from 1.
struct HeadFinding {
  std::string pattern;
  std::string words;
  std::size_t layer;
  std::size_t head;
  double mean_weight;  ///< Over held-out sequences.
};

/// A beginning, and how the model goes on.
struct Sample {
  std::string question;
  std::string answer;
  std::string expected;  ///< Empty where no answer is the right one, as in continued text.
};

/// All that the page shows; no field needs escaping.
struct Report {
  std::string task;
  std::string goal;
  std::uint64_t steps_done = 0;  ///< Of the model shown; after a failure there were more.
  std::uint64_t steps_planned = 0;
  std::string verdict;  ///< That it was not learned; empty where it was.
  std::string failure;  ///< Why the training could not go on; empty where it could.
  double seconds = 0;
  double tokens_per_second = 0;
  std::uint64_t parameters = 0;
  double exact_match = 0;      ///< Of the held-out sequences (for text: of the next bytes).
  double validation_loss = 0;  ///< On the held-out sequences.
  std::uint64_t held_out = 0;  ///< How many held-out answers were asked for.
  std::vector<double> losses;  ///< One a step.
  std::vector<Validation> validations;
  std::vector<Check> checks;
  std::vector<AttentionExample> examples;  ///< Of one size; a reader chooses among them.
  std::vector<HeadFinding> findings;       ///< The most telling first.
  std::vector<std::string> patterns;       ///< The findings', then those that every task has.
  std::vector<HeadScore> scores;           ///< Of the heads, layer by layer.
  std::vector<HeadsAtStep> over_time;      ///< On fewer sequences.
  std::vector<Sample> samples;
  std::string decoding = "greedily";  ///< How their tokens were chosen.
  std::vector<std::pair<std::string, std::string>> options;
};

/// A sentence about each check: what it found, and whether the run went on.
std::vector<std::string> check_lines(const Report& report);

/// The page: one HTML document that needs nothing else, in light and dark, on paper-wide and
/// phone-wide screens.
std::string render_html(const Report& report);

}  // namespace train
