#pragma once

#include <string>

#include "settings.h"

namespace train {

std::string settings_to_json(const Settings& settings);

/// Throws std::runtime_error, naming the setting, if one is missing, unknown, there twice, of the
/// wrong type (1.5, -1 or true for a whole number) or out of its range.
Settings settings_from_json(const std::string& json);

}  // namespace train
