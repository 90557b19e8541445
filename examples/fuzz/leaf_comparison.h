// Programs over leaves against what they gave in PyTorch, statement by statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "leaf_program.h"

namespace fuzz {

/// What PyTorch made of a statement, as torch_leaves.py writes it.
struct Expected {
  std::string error;    // empty when it did not fail
  std::string refused;  // the rule of tend's that forbids it; PyTorch was not asked
  World after;
};

std::vector<Expected> expected_from(const nlohmann::json& outcome);

/// How many statements of each sort there were.
struct LeafCounts {
  std::uint64_t statements = 0;
  std::uint64_t failed = 0;   // here and in PyTorch
  std::uint64_t refused = 0;  // by rules that PyTorch does not have

  void add(const std::vector<Expected>& expected);
};

/// The first difference in words, or the first trace of a call that failed; nothing when there is
/// none.
std::optional<std::string> difference(const LeafProgram& program,
                                      const std::vector<Expected>& expected);

}  // namespace fuzz
