// What the tests of schedules have in common: PyTorch's rates, and an optimizer of two groups.
#pragma once

#include <cmath>
#include <fstream>

#include "tests/catch.h"

#include <tend/tend.h>

#include <nlohmann/json.hpp>

namespace tend::test {

// tests/data/schedules.json (make_schedules.py)
inline const nlohmann::json& torch_schedules() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/schedules.json"));
  return data;
}

template <class O>
O two_groups(const typename O::Options& options) {
  typename O::Options first = options, second = options;
  first.lr = torch_schedules()["rates"][0].get<double>();
  second.lr = torch_schedules()["rates"][1].get<double>();
  O optimizer({zeros({1}).requires_grad_()}, first);
  optimizer.add_group({zeros({1}).requires_grad_()}, second);
  return optimizer;
}

inline optim::SGD two_rates() {
  return two_groups<optim::SGD>({.momentum = 0.9});
}

// The formulas are PyTorch's, operation for operation, but cos and pow may differ by an ulp between
// two C libraries, and 45 steps multiply such differences up.
inline constexpr double kRateTolerance = 1e-13;

inline void check_rates(const optim::Optimizer& optimizer, const nlohmann::json& expected) {
  for (std::size_t group = 0; group < 2; ++group) {
    const auto rate = expected[group].get<double>();
    CHECK(std::abs(optimizer.lr(group) - rate) <= kRateTolerance * std::abs(rate));
  }
}

}  // namespace tend::test
