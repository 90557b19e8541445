// tests/data/layers.json has the results of torch.nn's attention and Transformer. They are computed
// by tests/data/make_layers.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"

#include <nlohmann/json.hpp>

namespace tend::test {

inline const nlohmann::json& torch_layers() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/layers.json"));
  return data;
}

/// The numbers that make_layers.py uses for inputs, parameters and cotangents.
inline Tensor pattern(const Shape& shape, int seed, DType dtype, double scale = 1) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i) * 0.7 + 1.9 * seed) * scale;
  }
  return tensor(values, shape, float64).to(dtype);
}

/// The masks of make_layers.py. `kind` is "none", "float" or "bool" (true means hidden).
inline Tensor pattern_mask(const std::string& kind, const Shape& shape, DType dtype) {
  if (kind == "none") return {};
  const Tensor numbers = pattern(shape, 3, float64);
  if (kind == "float") return numbers.to(dtype);
  Tensor hidden = numbers > 0.5;
  hidden.select(-1, 0).fill_(false);
  return hidden;
}

/// Sets the parameters to the values that make_layers.py gives them.
inline void fill_with_patterns(nn::ModuleBase& module, DType dtype) {
  module.to(dtype);
  const NoGradGuard no_graph;
  int seed = 10;
  for (const auto& [name, parameter] : module.named_parameters()) {
    Tensor value = pattern(parameter.shape(), seed++, dtype, 0.5);
    const bool is_norm = name.find("norm") != std::string::npos && name.ends_with("weight");
    parameter.copy_(is_norm ? value + 1 : value);
  }
}

/// The tolerance of the modules, which add a few numbers in another order than PyTorch.
inline double layer_tolerance(DType dtype) {
  return dtype == float64 ? 1e-9 : 2e-5;
}

/// Checks that every element is within `tolerance`, relative to the largest expected one.
inline void check_relative(const Tensor& got, const nlohmann::json& expected, double tolerance) {
  const std::vector<double> values = got.detach().to(float64).to_vector<double>();
  const std::vector<double> wanted = expected.get<std::vector<double>>();
  REQUIRE(values.size() == wanted.size());
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    const double off = std::abs(values[i] - wanted[i]);
    worst = off <= worst ? worst : off;  // NaN counts as worst
  }
  INFO("the largest error is " << worst << ", the largest number is " << largest);
  CHECK(worst <= tolerance * largest);
}

/// Checks the sum of the products of a gradient and a pattern. The bound is relative to the sum of
/// the products' absolute values.
inline void check_products(const nlohmann::json& expected, const std::string& name,
                           const Tensor& gradient, double tolerance) {
  INFO("gradient of " << name);
  REQUIRE(expected.contains(name));
  REQUIRE(gradient.defined());
  const Tensor products = gradient.detach().to(float64) * pattern(gradient.shape(), 7, float64);
  const double scale = 1 + products.abs().sum().item<double>();
  CHECK(std::abs(products.sum().item<double>() - expected.at(name).get<double>()) <=
        tolerance * scale);
}

inline void check_gradients(const nlohmann::json& expected,
                            const std::vector<std::pair<std::string, Tensor>>& inputs,
                            const nn::ModuleBase& module, double tolerance) {
  std::size_t count = 0;
  const auto check = [&](const std::string& name, const Tensor& leaf) {
    if (!leaf.grad().defined()) return;
    ++count;
    check_products(expected, name, leaf.grad(), tolerance);
  };
  for (const auto& [name, leaf] : inputs) check(name, leaf);
  for (const auto& [name, leaf] : module.named_parameters()) check(name, leaf);
  CHECK(count == expected.size());
}

/// Checks the number of keys in a state, and the numbers under each key.
inline void check_state(const nn::ModuleBase& module, const nlohmann::json& expected) {
  const nn::StateDict state = module.state_dict();
  CHECK(state.size() == expected.size());
  for (const auto& [name, tensor] : state) {
    INFO(name);
    REQUIRE(expected.contains(name));
    // tend rounds the sums and square roots in the bounds of initialisation once more.
    check_relative(tensor, expected.at(name), 1e-6);
  }
}

}  // namespace tend::test
