// Every number, shape and text of the five notebooks, by case id. In tests/data/seeds.json,
// "expected" is the notebook's output (null if the export was cut off). "exact" is the result of
// PyTorch 1.13 and 2.6 for the same case in full float32 precision.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <tend/tend.h>

#include "examples/chapter3/walk.h"
#include "tests/catch.h"

#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

const json& cases() {
  static const json all = json::parse(std::ifstream(TEND_TEST_DATA "/seeds.json"));
  return all;
}

struct Road {
  std::map<std::string, chapter3::Step> steps;
  json values;
};

const Road& road() {
  static const Road walked = [] {
    std::ostringstream unread;
    chapter3::Walk walk(unread);
    chapter3::walk_seed_000(walk);
    chapter3::walk_seed_001(walk);
    chapter3::walk_seed_002(walk);
    chapter3::walk_seed_003(walk);
    chapter3::walk_seed_004(walk);
    Road out;
    for (const chapter3::Step& step : walk.steps())
      REQUIRE(out.steps.emplace(step.id, step).second);
    out.values = json::parse(to_json(walk.steps()));
    return out;
  }();
  return walked;
}

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  return text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
}

std::string formatted(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// A printed value must have the same printed digits. A value that is not printed must be within
// float32 noise of PyTorch's: 1e-6, or 1e-6 times a value above 1. The last bit of a float32 is
// 1.2e-7 of its value, and some values are results of a dozen operations.
bool agrees(double got, double expected, double exact, bool printed, int decimals) {
  if (std::isnan(expected) || std::isinf(expected))
    return formatted(got, 0) == formatted(expected, 0);
  if (decimals == 17 || decimals == 0) return got == expected;
  if (printed) return formatted(got, decimals) == formatted(expected, decimals);
  return std::abs(got - exact) <= 1e-6 * std::max(1.0, std::abs(exact));
}

void compare(const json& got, const json& expected, const json& exact, const json& each) {
  if (exact.is_array()) {
    REQUIRE(got.is_array());
    REQUIRE(got.size() == exact.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      compare(got[i], expected.is_array() && i < expected.size() ? expected[i] : json(), exact[i],
              each);
    }
    return;
  }
  const bool printed = each["printed"].get<bool>() && !expected.is_null();
  const double token = number(expected.is_null() ? exact : expected);
  INFO("got " << got << ", expected " << expected << ", exactly " << exact);
  const bool cut = expected.is_null() && each["decimals"].get<int>() != 0;
  CHECK(agrees(number(got), token, number(exact), printed, cut ? 6 : each["decimals"].get<int>()));
}

// The exports of two notebooks lost the line breaks and indentation of their tensors.
std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::string expected_text(const json& each) {
  std::string text = each["printed_text"].get<std::string>();
  if (each.contains("grad_fn")) {
    text.insert(text.size() - 1, ", grad_fn=<" + each["grad_fn"].get<std::string>() + ">");
  } else if (each.contains("requires_grad") && each["requires_grad"].get<bool>()) {
    text = "Parameter containing:\n" + text.substr(0, text.size() - 1) + ", requires_grad=True)";
  }
  return text;
}

void check_seed(const std::string& prefix) {
  std::size_t count = 0;
  for (const json& each : cases()) {
    const std::string id = each["id"];
    if (id.compare(0, prefix.size(), prefix) != 0 || each["source"] == "unknown") continue;
    ++count;
    DYNAMIC_SECTION(id) {
      REQUIRE(road().steps.count(id) == 1);
      compare(road().values[id], each["expected"], each["exact"], each);
      if (each.contains("printed_text") && !each.contains("partial")) {
        const std::string text = road().steps.at(id).text;
        const std::string expected = expected_text(each);
        if (each["printed_text"].get<std::string>().find('\n') != std::string::npos) {
          CHECK(without_spaces(text) == without_spaces(expected));
          CHECK(text.substr(0, text.rfind(']')) == expected.substr(0, expected.rfind(']')));
        } else {
          CHECK(without_spaces(text) == without_spaces(expected));
        }
      }
    }
  }
  CHECK(count > 0);
}

}  // namespace

TEST_CASE("seed 000 gives the results that its notebook printed") {
  check_seed("s000");
}
TEST_CASE("seed 001 gives the results that its notebook printed") {
  check_seed("s001");
}
TEST_CASE("seed 002 gives the results that its notebook printed") {
  check_seed("s002");
}
TEST_CASE("seed 003 gives the results that its notebook printed") {
  check_seed("s003");
}
TEST_CASE("seed 004 gives the results that its notebook printed") {
  check_seed("s004");
}

TEST_CASE("the example has all 271 cases except the one whose value is unknown") {
  std::set<std::string> known;
  for (const json& each : cases()) {
    if (each["source"] != "unknown") known.insert(each["id"].get<std::string>());
  }
  CHECK(cases().size() == 271);
  CHECK(known.size() == 270);
  CHECK(road().steps.size() == 270);
  for (const auto& [id, step] : road().steps) CHECK(known.count(id) == 1);
}

TEST_CASE("s001-linear-3x2-weight-shape: an unseeded Linear keeps its shape and its bounds") {
  const tend::nn::Linear linear(3, 2, /*with_bias=*/false);
  CHECK(linear.weight.shape() == tend::Shape{2, 3});
  for (const float weight : linear.weight.to_vector<float>())
    CHECK(std::abs(weight) <= 1 / std::sqrt(3.0f));
}
