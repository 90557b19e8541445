// What a program gave here against what it gave in PyTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "program.h"

namespace fuzz {

/// What PyTorch made of a program, as torch_run.py writes it.
struct Reference {
  std::string error;  // empty when it ran
  Outcome outcome;
};

Reference reference_from(const nlohmann::json& line);
nlohmann::json to_json(const Outcome& outcome);

/// The first difference in words; nothing when there is none.
std::optional<std::string> difference(const Program& program, const Outcome& found,
                                      const Outcome& expected);

/// The largest magnitude among all results; NaN where one is not finite.
double largest_magnitude(const Outcome& outcome);

/// A number for the text of a program, to see that it is still the one that results were stored of.
std::uint32_t fingerprint(const std::string& python);

/// Runs the programs in PyTorch, by `python` and the script torch_run.py, and returns what that
/// wrote of each. Error when it fails.
std::vector<nlohmann::json> run_in_torch(const std::vector<nlohmann::json>& programs,
                                         const std::string& python, const std::string& script);

}  // namespace fuzz
