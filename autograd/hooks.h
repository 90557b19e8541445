// Watching a backward at work: what debugging tools are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <tend/autograd/tensor.h>
#include <tend/core/random.h>

namespace tend {

class Node;

namespace autograd {

/// While it lives, every backward that this thread starts calls `function` after each node, with
/// the gradients of the node's inputs: undefined where nobody waits for one, and before sums over
/// broadcast dimensions. The function may replace them, by tensors of the same shape and dtype. Of
/// several hooks the latest is called first. A thread without hooks pays one test a backward.
class NodeHook {
 public:
  using Function = std::function<void(const Node& node, std::span<Tensor> gradients)>;

  explicit NodeHook(Function function);
  ~NodeHook();
  NodeHook(const NodeHook&) = delete;
  NodeHook& operator=(const NodeHook&) = delete;

  /// The latest hook of this thread, nullptr without one.
  static const NodeHook* latest() noexcept;
  /// Calls this hook and those that were there before it.
  void operator()(const Node& node, std::span<Tensor> gradients) const;

 private:
  Function function_;
  NodeHook* before_;
};

/// Breaks gradients on purpose, to show that a check finds it: while it lives, backwards on this
/// thread add normal noise to every gradient that nodes called `name` return.
class GradientNoise {
 public:
  explicit GradientNoise(std::string name, double standard_deviation = 0.1);

  /// How many gradients were spoilt; 0 means that no such node was differentiated.
  std::int64_t count() const noexcept { return count_; }

 private:
  std::string name_;
  double standard_deviation_;
  std::int64_t count_ = 0;
  Generator generator_{0};
  NodeHook hook_;
};

}  // namespace autograd
}  // namespace tend
