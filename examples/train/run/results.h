#pragma once

#include <string>

#include "examples/train/page/report.h"
#include "examples/train/run/options.h"

namespace train {

/// The results as one JSON object. Layers and heads are counted from 1. The keys are:
/// - task, seed, steps, seconds, tokens_per_second, exact_match, validation_loss, validations
/// - settings: all options, by their names in a checkpoint
/// - held_out: the number of answers, or of bytes of a text, that exact_match and validation_loss
///   are computed from
/// - learned: null if the run did not reach its last step
/// - losses: the loss of every step that was made. After a failure there may be more losses than
///   `steps`, because `steps` is the step of the restored model.
/// - checks: for each check after the planned steps, its step and the share of right answers.
///   Checks use other held-out sequences than exact_match.
/// - failure: null, or why the run could not continue
/// - best_head: null for a task without patterns
/// - heads: the entropy of each head in nats, and its share of attention for each pattern, which is
///   null if the sequences do not have the pattern
std::string results_json(const Report& report, const Options& options);

}  // namespace train
