// What the tests of operations share.
#pragma once

#include <string>
#include <vector>

#include <tend/autograd/engine.h>
#include <tend/autograd/grad_mode.h>
#include <tend/autograd/tensor.h>

#include "tests/catch.h"

namespace tend::test {

/// All elements, row-major, as doubles.
inline std::vector<double> values(const Tensor& tensor) {
  return tensor.detach().to(float64).to_vector<double>();
}

/// Equal to the rounding of float32 (Catch's Approx: 1.2e-5 of the value).
inline auto near(const std::vector<double>& expected) {
  return Catch::Matchers::Approx(expected);
}

inline auto says(const std::string& text) {
  return Catch::Matchers::Message(text);
}

}  // namespace tend::test
