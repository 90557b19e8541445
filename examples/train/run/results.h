#pragma once

#include <string>

#include "examples/train/page/report.h"
#include "examples/train/run/options.h"

namespace train {

/// The results as one JSON object: task, seed, settings (all options, by their names in a
/// checkpoint), steps, seconds, tokens_per_second, exact_match, validation_loss, held_out (how many
/// answers, or bytes of a text, these two are of), learned (null for a run that did not come to its
/// end), losses (of all steps; after a failure more than `steps`), validations, checks (which share
/// of other held-out answers was right where the planned steps ended), failure (null, or why the
/// run could not go on), best_head (null while no head follows any pattern) and heads: each one's
/// shares of attention by pattern (null where a pattern never was) and its entropy in nats. Layers
/// and heads are counted from 1.
std::string results_json(const Report& report, const Options& options);

}  // namespace train
