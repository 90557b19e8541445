// Compares the operation table with PyTorch's values and gradients (tests/data/make_pytorch.py).
#include <cstdlib>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "tests/autograd/support.h"
#include "tests/counts.h"
#include "tests/op_table/op_table.h"

using namespace tend;
using namespace tend::test;
using nlohmann::json;

namespace {

using Tensors = std::vector<Tensor>;

// The numbers are stored with 13 digits. They are results of a few operations on numbers of
// moderate size, in double precision in both libraries (float32 if the row says so).
bool is_close(const std::vector<double>& found, const json& expected, DType dtype) {
  if (found.size() != expected.size()) return false;
  const double tolerance = dtype == float32 ? 1e-6 : 1e-12;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double value = expected[i].get<double>();
    if (!(std::fabs(found[i] - value) <= tolerance * std::max(1.0, std::fabs(value)))) return false;
  }
  return true;
}

json describe(const Input& input, const Tensor& tensor) {
  json values = json::array();
  for (const double value : test::values(tensor)) {
    if (is_floating(input.dtype)) {
      values.push_back(tensor.dtype() == float32 ? std::round(value * 1000) / 1000 : value);
    } else {
      values.push_back(static_cast<std::int64_t>(value));
    }
  }
  return {{"shape", std::vector<std::int64_t>(input.shape.begin(), input.shape.end())},
          {"dtype", std::string(dtype_name(input.dtype))},
          {"gradient", tensor.requires_grad()},
          {"values", std::move(values)}};
}

json describe(const Op& op, const Sample& sample) {
  const Case made = make_case(op, sample, Layout::contiguous);
  json inputs = json::array();
  for (std::size_t i = 0; i < sample.size(); ++i) {
    inputs.push_back(describe(sample[i], made.inputs[i]));
  }
  return inputs;
}

// The expressions of all rows, by family.
std::map<std::string, json> rows_by_family() {
  std::map<std::string, json> families;
  for (const Op& op : op_table()) {
    json samples = json::array();
    for (const Sample& sample : op.samples) samples.push_back(describe(op, sample));
    INFO(op.torch);
    CHECK(!families[op.family].contains(op.torch));
    families[op.family][op.torch] = std::move(samples);
  }
  return families;
}

json read_fixtures(const std::string& family) {
  std::ifstream file(as_text(TEND_TEST_DATA, "/ops/", family, ".json"));
  return json::parse(file);
}

// The next two functions return the number of tensors that they compared.

std::int64_t compare_outputs(const Tensors& found, const json& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto shape = expected[i]["shape"].get<std::vector<std::int64_t>>();
    CHECK(found[i].shape() == Shape(std::span(shape)));
    CHECK(dtype_name(found[i].dtype()) == expected[i]["dtype"].get<std::string>());
    INFO(to_string(found[i]) << " and in PyTorch " << expected[i]["values"]);
    CHECK(is_close(values(found[i]), expected[i]["values"], found[i].dtype()));
  }
  return static_cast<std::int64_t>(found.size());
}

std::int64_t compare_gradients(const Case& made, const Tensors& outputs, const json& fixture) {
  Tensors tracked, cotangents, wanted;
  for (const Tensor& output : outputs) {
    if (!output.requires_grad()) continue;
    const auto numbers = fixture["cotangents"].at(tracked.size()).get<std::vector<double>>();
    cotangents.emplace_back(Array::from<double>(numbers, output.shape()).to(output.dtype()));
    tracked.push_back(output);
  }
  for (const Tensor& input : made.inputs) {
    if (input.requires_grad()) wanted.push_back(input);
  }
  REQUIRE(tracked.size() == fixture["cotangents"].size());
  REQUIRE(wanted.size() == fixture["gradients"].size());
  const Tensors found = autograd::grad(tracked, wanted, cotangents, {.allow_unused = true});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const json& expected = fixture["gradients"].at(i);
    if (expected.is_null()) {
      const std::vector<double> zeros(static_cast<std::size_t>(wanted[i].numel()), 0);
      CHECK((!found[i].defined() || values(found[i]) == zeros));
      continue;
    }
    REQUIRE(found[i].defined());
    INFO("gradient " << i << ": " << to_string(found[i]) << " and in PyTorch " << expected);
    CHECK(is_close(values(found[i]), expected, outputs[0].dtype()));
  }
  return static_cast<std::int64_t>(found.size());
}

}  // namespace

TEST_CASE("operations have PyTorch's values, dtypes and gradients", "[table]") {
  std::map<std::string, json> fixtures;
  for (const auto& [family, rows] : rows_by_family()) {
    INFO(family);
    fixtures[family] = read_fixtures(family);
    CHECK(fixtures[family].size() == rows.size());
  }
  std::int64_t comparisons = 0, without_gradients = 0;
  for (const Op& op : op_table()) {
    INFO(op.torch);
    REQUIRE(fixtures[op.family].contains(op.torch));
    const json& samples = fixtures[op.family][op.torch];
    REQUIRE(samples.size() == op.samples.size());
    for (std::size_t k = 0; k < samples.size(); ++k) {
      INFO("sample " << k);
      const json row = describe(op, op.samples[k]);
      // If this fails, the fixtures are older than the table: run make_pytorch.py.
      for (std::size_t i = 0; i < row.size(); ++i) {
        REQUIRE(row[i]["values"] == samples[k]["inputs"].at(i));
      }
      const Case made = make_case(op, op.samples[k], Layout::contiguous);
      const Tensors outputs = op.call(made.inputs);
      comparisons += compare_outputs(outputs, samples[k]["outputs"]);
      if (samples[k].contains("gradients")) {
        comparisons += compare_gradients(made, outputs, samples[k]);
      } else {
        without_gradients += std::ranges::any_of(outputs, &Tensor::requires_grad);
      }
    }
  }
  // tend has gradients in samples of floor_divide, and in samples that PyTorch refuses. PyTorch has
  // no gradients in these samples.
  CHECK(without_gradients == 30);
  write_count("torch_comparisons", comparisons);
}

TEST_CASE("every row of the operation table has a different expression", "[table]") {
  const std::map<std::string, json> rows = rows_by_family();
  CHECK(rows.size() > 1);
  // make_pytorch.py reads this file.
  if (const char* path = std::getenv("TEND_OP_ROWS")) std::ofstream(path) << json(rows).dump();
}
