#pragma once

#include <string>

#include "examples/train/run/options.h"

namespace train {

std::string options_to_json(const Options& options);

/// Throws std::runtime_error, naming the option, if one is missing, unknown, there twice, of the
/// wrong type (1.5, -1 or true for a whole number) or out of its range.
/// Options of before there was max_steps are read with has_most_steps = false; it is then `steps`.
Options options_from_json(const std::string& json, bool has_most_steps = true);

}  // namespace train
