// What both kinds of checks write.
#pragma once

#include <nlohmann/json.hpp>

/// A number; JSON has no NaN or infinity, but a broken gradient may have both: they are strings.
nlohmann::ordered_json json_number(double value);
