// Hooks that watch every step of a backward, for debugging tools.
#pragma once

#include <functional>
#include <span>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

class Node;

namespace autograd {

/// While it lives, every backward that this thread starts calls `function` after each node, with
/// the gradients of the node's inputs: undefined where none is needed, and not yet summed over
/// broadcast dimensions. The function may replace them by tensors of the same shape and dtype. Of
/// several hooks the latest is called first. Without hooks a backward pays one test for each node
/// and edge.
///
/// Destroy a hook on the thread that made it, and not while it is called.
class NodeHook {
 public:
  using Function = std::function<void(const Node& node, std::span<Tensor> gradients)>;

  explicit NodeHook(Function function);
  ~NodeHook();
  NodeHook(const NodeHook&) = delete;
  NodeHook& operator=(const NodeHook&) = delete;

  /// True if this thread has hooks.
  static bool any() noexcept;
  /// Calls the hooks of this thread, the latest first.
  static void call_all(const Node& node, std::span<Tensor> gradients);

 private:
  Function function_;
};

}  // namespace autograd
}  // namespace tend
