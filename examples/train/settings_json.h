#pragma once

#include <string>

#include "settings.h"

namespace train {

std::string settings_to_json(const Settings& settings);

/// Throws std::runtime_error if a setting is missing, of the wrong type or out of its range.
Settings settings_from_json(const std::string& json);

}  // namespace train
