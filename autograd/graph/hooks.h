// Hooks that watch every step of a backward, for debugging tools.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <vector>

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
/// Hooks may end in any order, on any thread, and while they run: the function is not called again
/// after that, except by another backward that is calling it at this moment.
class NodeHook {
 public:
  using Function = std::function<void(const Node& node, std::span<Tensor> gradients)>;

  explicit NodeHook(Function function);
  ~NodeHook();
  NodeHook(const NodeHook&) = delete;
  NodeHook& operator=(const NodeHook&) = delete;

  /// The thread's entry for a hook, which may outlive the object.
  struct Entry final : RefCounted {
    Entry(Function f, bool anomaly) : function(std::move(f)), detects_anomaly(anomaly) {}
    static void destroy(Entry* entry) noexcept { delete entry; }

    Function function;
    bool detects_anomaly;  // belongs to a DetectAnomaly
    std::atomic<bool> has_ended = false;
  };
  using Entries = std::vector<Ref<Entry>>;

  /// The hooks of this thread, the latest last.
  static const Entries& of_this_thread() noexcept;
  /// Calls those that have not ended, the latest first.
  static void call(const Entries& hooks, const Node& node, std::span<Tensor> gradients);

 private:
  friend class DetectAnomaly;
  NodeHook(Function function, bool detects_anomaly);

  Ref<Entry> entry_;
};

}  // namespace autograd
}  // namespace tend
