// Walk prints the steps of the notebooks and records their names, values and printed texts.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

#include <tend/tend.h>

namespace chapter3 {

/// The result of a step: a tensor, a shape, a Python float, a Python int, or a list of Python
/// floats.
using Value = std::variant<tend::Tensor, tend::Shape, double, std::int64_t, std::vector<double>>;

struct Step {
  std::string id;
  Value value;
  std::string text;  // as Python prints the value
};

/// Prints each step and records it.
class Walk {
 public:
  explicit Walk(std::ostream& out) : out_(&out) {}

  /// Prints the title of a section.
  void section(const std::string& title);
  /// Records the value as `id`, and prints it below the description `what`.
  void show(const std::string& id, const std::string& what, const Value& value);

  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  std::ostream* out_;
  std::vector<Step> steps_;
};

/// The steps as a JSON object that maps ids to values.
///
/// float32 numbers have 9 significant digits, doubles have 17. NaN and infinities are the strings
/// "nan", "inf" and "-inf". Tensors and shapes are nested arrays.
std::string to_json(const std::vector<Step>& steps);

// The five notebooks.
void walk_seed_000(Walk& walk);
void walk_seed_001(Walk& walk);
void walk_seed_002(Walk& walk);
void walk_seed_003(Walk& walk);
void walk_seed_004(Walk& walk);

}  // namespace chapter3
