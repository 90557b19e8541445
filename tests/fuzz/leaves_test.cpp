// Random programs over leaves that persist (examples/fuzz/leaf_program.h) against what PyTorch made
// of them, statement by statement. tests/data/fuzz_leaves.json is written by `fuzz --kind leaves
// --store`, on a machine with PyTorch.
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "examples/fuzz/comparison.h"
#include "examples/fuzz/leaf_catalogue.h"
#include "examples/fuzz/leaf_comparison.h"
#include "tests/catch.h"
#include "tests/counts.h"

using namespace tend;
using nlohmann::json;

TEST_CASE("Programs over leaves are as in PyTorch after every statement", "[table]") {
  std::ifstream file(TEND_TEST_DATA "/fuzz_leaves.json");
  const json stored = json::parse(file);
  std::set<std::string> entries;
  for (const json& each : stored) {
    const fuzz::LeafProgram program(each["seed"].get<std::uint64_t>());
    INFO("seed " << program.seed() << "\n" << program.python());
    // Otherwise the catalogue is newer than the results, or a statement failed that did not when
    // they were stored: run fuzz --kind leaves --store.
    CHECK(fuzz::fingerprint(program.python()) == each["fingerprint"].get<std::uint32_t>());
    const auto text = fuzz::difference(program, fuzz::expected_from(each));
    CHECK(text.value_or("the same") == "the same");
    entries.insert(program.entries().begin(), program.entries().end());
  }
  for (const fuzz::LeafEntry& entry : fuzz::leaf_catalogue()) {
    INFO(entry.name);
    CHECK(entries.count(entry.name) == 1);
  }
  test::write_count("leaf_programs", static_cast<std::int64_t>(stored.size()));
}

TEST_CASE("A program over leaves is the same whenever it is written") {
  const fuzz::LeafProgram first(5), again(5), other(6);
  CHECK(first.python() == again.python());
  CHECK(first.python() != other.python());
  REQUIRE(first.statements().size() == again.statements().size());
  for (std::size_t i = 0; i < first.statements().size(); ++i)
    CHECK(first.statements()[i].after == again.statements()[i].after);
}

TEST_CASE("A difference between a program over leaves and PyTorch is told") {
  const fuzz::LeafProgram program(5);
  std::vector<fuzz::Expected> expected;
  for (const fuzz::Statement& each : program.statements())
    expected.push_back({each.error, {}, each.after});
  CHECK(fuzz::difference(program, expected) == std::nullopt);
  const std::string statement = program.statements()[0].python;

  auto other = expected;
  other[0].error = "ValueError";
  CHECK(fuzz::difference(program, other) ==
        "statement 1, " + statement + ": did not fail, as it should: ValueError");

  other = expected;
  other[0].after.begin()->second.sum += 1;
  CHECK_THAT(fuzz::difference(program, other).value_or(""),
             Catch::Matchers::ContainsSubstring("x0 sums to"));
  other = expected;
  other[0].after.begin()->second.grad_kind = "float64 ()";
  CHECK_THAT(fuzz::difference(program, other).value_or(""),
             Catch::Matchers::ContainsSubstring("x0.grad is none, in PyTorch float64 ()"));
  other = expected;
  other[0].after["x9"] = {};
  CHECK_THAT(fuzz::difference(program, other).value_or(""),
             Catch::Matchers::ContainsSubstring("x9 is in PyTorch only"));
  other = expected;
  other.pop_back();
  CHECK(fuzz::difference(program, other) == "PyTorch ran another number of statements");
}

TEST_CASE("A snapshot tells every trace of a call that failed") {
  fuzz::Names names;
  Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, float64);
  x.requires_grad_();
  x.set_grad(ones({2, 3}, float64));
  names.bind("x", x, fuzz::Role::leaf);
  optim::SGD sgd({x}, {.lr = 0.1, .momentum = 0.9});
  const fuzz::Snapshot before(names, {sgd.state_dict()});
  const auto trace = [&] { return before.difference(names, {sgd.state_dict()}); };
  const NoGradGuard guard;
  CHECK(trace().empty());

  SECTION("elements") {
    x.array().data<double>()[4] = 7;
    CHECK(trace() == "x has other elements");
  }
  SECTION("a version") {
    x.mul_(1);
    CHECK(trace() == "x has version 1 instead of 0");
  }
  SECTION("a shape") {
    x.t_();
    CHECK(trace() == "x has shape (3, 2)");
  }
  SECTION("strides") {
    x.set_data(zeros({3, 2}, float64).t());
    CHECK(trace() == "x has strides (1, 2)");
  }
  SECTION("a dtype") {
    x.zero_grad();
    x.set_data(x.detach().to(float32));
    CHECK(trace() == "x is float32");
  }
  SECTION("requires_grad") {
    x.requires_grad_(false);
    CHECK(trace() == "x has another requires_grad");
  }
  SECTION("elements of a gradient") {
    x.grad().array().data<double>()[0] = 2;
    CHECK(trace() == "x.grad has other elements");
  }
  SECTION("another gradient of the same elements") {
    x.set_grad(x.grad().clone());
    CHECK(trace() == "x.grad is another tensor");
  }
  SECTION("no gradient") {
    x.zero_grad();
    CHECK(trace() == "x.grad is another tensor");
  }
  SECTION("the state of an optimizer") {
    Tensor other = x.detach().clone();
    sgd.step();
    x.set_data(other);
    CHECK(trace() == "optimizer 0 has another state");
  }
  SECTION("a name") {
    names.erase("x");
    CHECK(trace() == "a name came or went");
  }
}
