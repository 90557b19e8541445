#pragma once

#include <cstdint>
#include <string>

#include "examples/train/page/report.h"

namespace train {

/// The results as one JSON object: task, seed, steps, seconds, tokens_per_second, exact_match,
/// validation_loss, losses (of all steps; after a failure more than `steps`), failure (null, or why
/// the run could not go on) and best_head (null while no head follows any pattern).
std::string results_json(const Report& report, std::uint64_t seed);

}  // namespace train
