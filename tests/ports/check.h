// What the programs in this folder check their results with.
#pragma once

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <tend/tend.h>

namespace check {

inline int failures = 0;

/// Prints `what` when it is not so.
inline void that(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::cerr << "wrong: " << what << '\n';
}

/// |got - want| <= tolerance * max(1, |want|); NaN is never near.
inline void near(const std::string& what, double got, double want, double tolerance) {
  const bool right = std::abs(got - want) <= tolerance * std::fmax(1.0, std::abs(want));
  that(right, what + " is " + std::to_string(got) + ", not " + std::to_string(want));
}

/// The same for lists of numbers.
inline void near(const std::string& what, const std::vector<double>& got,
                 const std::vector<double>& want, double tolerance) {
  that(got.size() == want.size(), what + " has " + std::to_string(got.size()) + " numbers");
  for (std::size_t i = 0; i < got.size() && i < want.size(); ++i)
    near(what + '[' + std::to_string(i) + ']', got[i], want[i], tolerance);
}

/// Whether two tensors have one shape, and elements that differ by less than `tolerance`.
inline void near(const std::string& what, const tend::Tensor& got, const tend::Tensor& want,
                 double tolerance) {
  if (got.shape() != want.shape()) {
    that(false, what + " has another shape");
    return;
  }
  const double difference = (got - want).abs().max().item();
  that(difference <= tolerance, what + " differs by " + std::to_string(difference));
}

/// What main returns.
inline int result() {
  if (failures > 0) std::cerr << failures << " checks failed\n";
  return failures > 0 ? 1 : 0;
}

}  // namespace check
