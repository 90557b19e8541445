// The record of a walk: every step's name, value and printed text.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include <tend/tend.h>

namespace chapter3 {

/// What a step gives: a tensor, a shape, a Python float, a Python int, or a list of Python numbers.
using Value = std::variant<tend::Tensor, tend::Shape, double, std::int64_t, std::vector<double>>;

struct Step {
  std::string id;
  Value value;
  std::string text;  // as Python prints the value
};

/// Prints the steps as they are computed, and keeps them.
class Walk {
 public:
  explicit Walk(std::ostream& out) : out_(&out) {}

  void section(const std::string& title);
  /// Notes the value under `id` and prints it below `what`.
  void show(const std::string& id, const std::string& what, const Value& value);

  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  std::ostream* out_;
  std::vector<Step> steps_;
};

/// The steps as a JSON object, id to value: numbers with 9 significant digits (float32) or 17
/// (doubles), "nan", "inf" and
/// "-inf" as text, tensors and shapes as nested arrays.
std::string to_json(const std::vector<Step>& steps);

// The five notebooks.
void walk_seed_000(Walk& walk);
void walk_seed_001(Walk& walk);
void walk_seed_002(Walk& walk);
void walk_seed_003(Walk& walk);
void walk_seed_004(Walk& walk);

}  // namespace chapter3
