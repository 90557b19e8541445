#include "leaf_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace tend;
using nlohmann::json;

namespace fuzz {
namespace {

double number(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

TensorState state_from(const json& list) {
  TensorState state{list[0].get<std::string>(), number(list[1]), number(list[2])};
  if (list.size() == 6) {
    state.grad_kind = list[3].get<std::string>();
    state.grad_sum = number(list[4]);
    state.grad_magnitude = number(list[5]);
  }
  return state;
}

std::optional<std::string> difference(const std::string& name, const std::string& kind, double sum,
                                      double magnitude, const std::string& expected_kind,
                                      double expected_sum, double expected_magnitude,
                                      double tolerance) {
  if (kind != expected_kind) return as_text(name, " is ", kind, ", in PyTorch ", expected_kind);
  const bool finite = std::isfinite(sum) && std::isfinite(magnitude);
  if (!finite && std::isnan(expected_sum + expected_magnitude)) return std::nullopt;
  const double allowed = tolerance * std::max(1.0, expected_magnitude);
  const bool close = std::fabs(sum - expected_sum) <= allowed &&
                     std::fabs(magnitude - expected_magnitude) <= allowed;
  if (close) return std::nullopt;
  return as_text(name, " sums to ", sum, " (absolute values ", magnitude, "), in PyTorch ",
                 expected_sum, " (", expected_magnitude, ')');
}

// autograd::grad gives zeros where PyTorch may give nothing.
bool both_nothing(const TensorState& found, const TensorState& expected) {
  return (found.kind == "none" || expected.kind == "none") && found.magnitude == 0 &&
         expected.magnitude == 0;
}

std::optional<std::string> difference(const World& found, const World& expected, double tolerance) {
  std::set<std::string> names;
  for (const World* world : {&found, &expected}) {
    for (const auto& [name, state] : *world) names.insert(name);
  }
  for (const std::string& name : names) {
    const auto here = found.find(name), there = expected.find(name);
    if (here == found.end()) return name + " is in PyTorch only";
    if (there == expected.end()) return name + " is not in PyTorch";
    const TensorState &a = here->second, &b = there->second;
    if (both_nothing(a, b)) continue;
    if (auto text =
            difference(name, a.kind, a.sum, a.magnitude, b.kind, b.sum, b.magnitude, tolerance))
      return text;
    if (auto text = difference(name + ".grad", a.grad_kind, a.grad_sum, a.grad_magnitude,
                               b.grad_kind, b.grad_sum, b.grad_magnitude, tolerance))
      return text;
  }
  return std::nullopt;
}

std::optional<std::string> difference(const Statement& found, const Expected& expected,
                                      double tolerance) {
  const std::string reason = expected.error + expected.refused;
  if (!found.trace.empty())
    return as_text("failed (", found.error, ") and left a trace: ", found.trace);
  if (found.error.empty() && !reason.empty())
    return as_text("did not fail, as it should: ", reason);
  if (!found.error.empty() && reason.empty()) return as_text("failed: ", found.error);
  return difference(found.after, expected.after, tolerance);
}

}  // namespace

std::vector<Expected> expected_from(const json& outcome) {
  std::vector<Expected> all;
  World world;
  for (const json& each : outcome.at("statements")) {
    for (const auto& [name, state] : each.at("changes").items()) {
      if (state.is_null()) {
        world.erase(name);
      } else {
        world[name] = state_from(state);
      }
    }
    all.push_back({each.value("error", ""), each.value("refused", ""), world});
  }
  return all;
}

void LeafCounts::add(const std::vector<Expected>& expected) {
  for (const Expected& each : expected) {
    ++statements;
    if (!each.error.empty()) ++failed;
    if (!each.refused.empty()) ++refused;
  }
}

std::optional<std::string> difference(const LeafProgram& program,
                                      const std::vector<Expected>& expected) {
  const auto& statements = program.statements();
  for (std::size_t i = 0; i < std::min(statements.size(), expected.size()); ++i) {
    const auto text = difference(statements[i], expected[i], tolerance(program.single_precision()));
    if (text) return as_text("statement ", i + 1, ", ", statements[i].python, ": ", *text);
  }
  if (statements.size() != expected.size()) return "PyTorch ran another number of statements";
  return std::nullopt;
}

}  // namespace fuzz
