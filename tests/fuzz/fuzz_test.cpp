// Random programs (examples/fuzz) against what PyTorch made of them. tests/data/fuzz.json is
// written by `fuzz --store`, on a machine with PyTorch.
#include <fstream>

#include <nlohmann/json.hpp>

#include "examples/fuzz/catalogue.h"
#include "examples/fuzz/comparison.h"
#include "tests/catch.h"
#include "tests/counts.h"

using namespace tend;
using nlohmann::json;

TEST_CASE("Random programs have PyTorch's values, gradients and second derivatives", "[table]") {
  std::ifstream file(TEND_TEST_DATA "/fuzz.json");
  const json stored = json::parse(file);
  std::set<std::string> operations;
  for (const json& each : stored) {
    const fuzz::Program program(each["seed"].get<std::uint64_t>());
    INFO("seed " << program.seed() << "\n" << program.python());
    // Otherwise the catalogue is newer than the results: run fuzz --store.
    REQUIRE(fuzz::fingerprint(program.python()) == each["fingerprint"].get<std::uint32_t>());
    const fuzz::Outcome found = program.run();
    REQUIRE(found.kind == fuzz::Outcome::Kind::compared);
    const auto text =
        fuzz::difference(program, found, fuzz::reference_from(each["outcome"]).outcome);
    CHECK(text.value_or("the same") == "the same");
    operations.insert(program.operations().begin(), program.operations().end());
  }
  for (const fuzz::Entry& entry : fuzz::catalogue()) {
    INFO(entry.name);
    CHECK(operations.count(entry.name) == 1);
  }
  test::write_count("fuzz_programs", static_cast<std::int64_t>(stored.size()));
}

TEST_CASE("A program is the same whenever it is written") {
  const fuzz::Program first(5), again(5), other(6);
  CHECK(first.python() == again.python());
  CHECK(first.python() != other.python());
  CHECK(fuzz::difference(first, first.run(), again.run()) == std::nullopt);
}

TEST_CASE("A difference in value, shape or derivative is told") {
  const auto digest = [](double sum) { return fuzz::Digest{{2}, "float64", sum, 4}; };
  const fuzz::Program program(5);
  fuzz::Outcome a, b;
  a.values = {digest(1)};
  b.values = {digest(1 + 1e-10)};
  CHECK(fuzz::difference(program, a, b) == std::nullopt);
  b.values = {digest(1.5)};
  CHECK(fuzz::difference(program, a, b) ==
        "value 0 sums to 1 (absolute values 4), in PyTorch 1.5 (4)");
  b.values = {fuzz::Digest{{1, 2}, "float64", 1, 4}};
  CHECK(fuzz::difference(program, a, b) == "value 0 is float64 (2,), in PyTorch float64 (1, 2)");
  b = a;
  b.second = {digest(1)};
  CHECK(fuzz::difference(program, a, b) ==
        "second derivative 0 is none (0,), in PyTorch float64 (2,)");
}
