// Gradients that are wrong on purpose.
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/graph/node_hook.h>
#include <tend/core/random/random.h>

namespace tend::test {

/// Breaks gradients on purpose, to show that a check finds it. While the object exists, backward
/// passes on this thread add normal noise to every gradient that a node called `name` returns.
class GradientNoise {
 public:
  explicit GradientNoise(std::string name, double standard_deviation = 0.1);

  /// The number of gradients that were changed. 0 means that no such node was differentiated.
  std::int64_t count() const noexcept { return count_; }

 private:
  std::string name_;
  double standard_deviation_;
  std::int64_t count_ = 0;
  Generator generator_{0};
  autograd::NodeHook hook_;
};

}  // namespace tend::test
