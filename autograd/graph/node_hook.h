// Hooks that watch every step of a backward, for debugging tools.
#pragma once

#include <functional>
#include <span>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

class Node;

namespace autograd {

/// A hook for the nodes of every backward that this thread starts while the hook exists.
///
/// After each node, the backward calls `function` with the gradients of the node's inputs. A
/// gradient has the shape and dtype in which it is delivered, and is undefined if it is not needed.
/// The function may replace it by a tensor of the same shape and dtype. Of several hooks, the
/// latest is called first. Without hooks, a backward has one additional branch for each node
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
