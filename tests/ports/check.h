// The checks that the programs in this folder use.
#pragma once

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <tend/tend.h>

namespace check {

inline int failures = 0;

/// Counts a failure and prints `what` unless `right` is true.
inline void that(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::cerr << "wrong: " << what << '\n';
}

/// Checks that |got - want| <= tolerance * max(1, |want|). The check fails for NaN.
inline void near(const std::string& what, double got, double want, double tolerance) {
  const bool right = std::abs(got - want) <= tolerance * std::fmax(1.0, std::abs(want));
  that(right, what + " is " + std::to_string(got) + ", not " + std::to_string(want));
}

/// Checks two lists of numbers in the same way.
inline void near(const std::string& what, const std::vector<double>& got,
                 const std::vector<double>& want, double tolerance) {
  that(got.size() == want.size(), what + " has " + std::to_string(got.size()) + " numbers");
  for (std::size_t i = 0; i < got.size() && i < want.size(); ++i)
    near(what + '[' + std::to_string(i) + ']', got[i], want[i], tolerance);
}

/// Checks that two tensors have the same shape and that elements differ by at most `tolerance`.
inline void near(const std::string& what, const tend::Tensor& got, const tend::Tensor& want,
                 double tolerance) {
  if (got.shape() != want.shape()) {
    that(false, what + " has another shape");
    return;
  }
  const double difference = (got - want).abs().max().item();
  that(difference <= tolerance, what + " differs by " + std::to_string(difference));
}

/// The exit status: 0 if all checks passed, otherwise 1.
inline int result() {
  if (failures > 0) std::cerr << failures << " checks failed\n";
  return failures > 0 ? 1 : 0;
}

}  // namespace check
