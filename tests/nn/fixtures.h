// tests/data/nn.json: PyTorch's random numbers, steps and trainings (tests/data/make_nn.py).
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"

#include <nlohmann/json.hpp>

inline const nlohmann::json& torch_nn() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/nn.json"));
  return data;
}

/// The names of a state's tensors, in their order.
inline std::vector<std::string> keys_of(const tend::nn::StateDict& state) {
  std::vector<std::string> keys;
  for (const auto& [name, tensor] : state) keys.push_back(name);
  return keys;
}

/// Checks that every element is within `tolerance` (absolute).
inline void check_close(const tend::Tensor& got, const nlohmann::json& expected, double tolerance) {
  const std::vector<double> values = got.detach().to(tend::float64).to_vector<double>();
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(values[i] - expected[i].get<double>()) <= tolerance);
  }
}
