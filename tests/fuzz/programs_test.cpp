// Compares random programs with PyTorch's results after each of their steps. tests/fuzz/programs.py
// wrote tests/data/fuzz.json. TEND_FUZZ_PROGRAMS=FILE reads another file.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "tests/catch.h"
#include "tests/counts.h"
#include "tests/fuzz/machine.h"
#include "tests/snapshot.h"

using namespace tend;
using namespace tend::test;
using nlohmann::json;

namespace {

// Programs are chains of about ten operations in float64. programs.py leaves out a program if it
// amplifies a change of 1e-11 to more than 2.5e-10.
double tolerance(bool single) {
  return single ? 2e-3 : 1e-9;
}

// Applies the changes of one step to PyTorch's expected state.
void apply(const json& changes, std::map<std::string, json>& expected) {
  for (const auto& [name, state] : changes.items()) {
    if (state.is_null()) {
      expected.erase(name);
    } else {
      expected[name] = state;
    }
  }
}

// True if tend has a gradient of zeros where PyTorch has no gradient, for example from norm(x, 0).
// Then the steps of an optimizer differ.
bool has_zeros_for_none(const std::map<std::string, TensorState>& found,
                        const std::map<std::string, json>& expected) {
  return std::any_of(expected.begin(), expected.end(), [&](const auto& each) {
    const auto own = found.find(each.first);
    if (own == found.end()) return false;
    const auto& [kind, sums] = own->second;
    const bool is_gradient = sums.size() == 4 && each.second.size() == 3 && sums[3] == 0;
    return is_gradient || (kind != each.second[0].template get<std::string>() && sums[1] == 0);
  });
}

void compare(const std::map<std::string, TensorState>& found,
             const std::map<std::string, json>& expected) {
  REQUIRE(found.size() == expected.size());
  bool single = false;
  for (const auto& [name, state] : expected)
    single = single || state[0].get<std::string>().starts_with("float32");
  for (const auto& [name, state] : expected) {
    INFO(name << " in PyTorch: " << state);
    REQUIRE(found.contains(name));
    const TensorState& own = found.at(name);
    CHECK(own.kind == state[0].get<std::string>());
    REQUIRE(own.sums.size() + 1 == state.size());
    for (std::size_t i = 0; i < own.sums.size(); ++i) {
      const double magnitude = std::max(1.0, state[i / 2 * 2 + 2].get<double>());
      INFO(own.sums[i]);
      CHECK(std::fabs(own.sums[i] - state[i + 1].get<double>()) <= tolerance(single) * magnitude);
    }
  }
}

json stored_programs() {
  const char* path = std::getenv("TEND_FUZZ_PROGRAMS");
  std::ifstream file(path == nullptr ? TEND_TEST_DATA "/fuzz.json" : path);
  REQUIRE(file.good());
  return json::parse(file);
}

}  // namespace

TEST_CASE("random programs have PyTorch's values, gradients and errors after every step",
          "[table]") {
  const json programs = stored_programs();
  std::set<std::string> rows, kinds;
  std::int64_t stopped = 0;
  for (const json& program : programs) {
    Machine machine;
    std::map<std::string, json> expected;
    for (std::size_t i = 0; i < program["steps"].size(); ++i) {
      const json& step = program["steps"][i];
      INFO("seed " << program["seed"] << ", step " << i << ": " << step);
      kinds.insert(step[0]);
      if (step[0] == "row") rows.insert(step[1]);
      const Snapshot before(step[0] == "mistake" ? machine.tensors() : std::vector<Tensor>());
      try {
        machine.run(step);
      } catch (const AutogradError& error) {
        // For some derivatives, tend saves other tensors than PyTorch, and reports writes to them.
        INFO(error.what());
        CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("was changed later"));
        ++stopped;
        break;
      }
      CHECK(before.difference() == "");
      apply(program["changes"][i], expected);
      const std::map<std::string, TensorState> found = machine.state();
      if (has_zeros_for_none(found, expected)) {
        ++stopped;
        break;
      }
      compare(found, expected);
    }
  }
  CHECK(stopped * 20 < std::ssize(programs));
  CHECK(rows.size() > op_table().size() / 2);
  CHECK(kinds.size() == 16);  // all kinds of steps
  write_count("fuzz_programs", std::ssize(programs));
}
