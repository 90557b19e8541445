// Helpers for the tests of operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tensor/tensor.h>

#include "tests/catch.h"
#include "tests/numbers.h"

namespace tend::test {

/// A float64 tensor that requires grad.
inline Tensor leaf(const NestedNumbers& numbers) {
  return tensor(numbers, float64).requires_grad_();
}

/// A float64 tensor of this shape that requires grad, with irregular elements of both signs.
inline Tensor irregular_leaf(const Shape& shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    values.push_back((static_cast<double>(i * 7 % 11) - 4.5) / 4);
  }
  Tensor made(Array::from<double>(values, shape));
  return made.requires_grad_();
}

/// All elements, row-major, as doubles.
inline std::vector<double> values(const Tensor& tensor) {
  return tensor.detach().to(float64).to_vector<double>();
}

/// True if the elements equal `expected`. NaN equals NaN here.
inline bool same(const Tensor& tensor, const std::vector<double>& expected) {
  const std::vector<double> found = values(tensor);
  return std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                    [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

/// PyTorch's name of the node that made the tensor.
inline std::string grad_fn(const Tensor& tensor) {
  return tensor.grad_fn();
}

/// The gradient of f(x).sum() with respect to x.
template <class F>
Tensor slope(F f, const Tensor& x) {
  Tensor leaf = x.detach().requires_grad_();
  return autograd::grad({f(leaf).sum()}, {leaf})[0];
}

/// The gradients of f(a, b).sum() with respect to a and b.
template <class F>
std::vector<Tensor> slopes(F f, const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().requires_grad_(), y = b.detach().requires_grad_();
  return autograd::grad({f(x, y).sum()}, {x, y});
}

/// Matches numbers that are equal up to the rounding of float32: Catch's Approx allows a relative
/// error of 1.2e-5.
inline auto near(const std::vector<double>& expected) {
  return Catch::Matchers::Approx(expected);
}

/// Matches an error with exactly this message.
inline auto says(const std::string& text) {
  return Catch::Matchers::Message(text);
}

}  // namespace tend::test
