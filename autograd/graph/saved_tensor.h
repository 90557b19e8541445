// The edges of the graph, and the tensors that it saves for derivatives.
#pragma once

#include <cstdint>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

class Node;

/// The destination of the gradient of an input: the node that made the input, a leaf, or nothing
/// (both null).
struct Edge {
  Ref<Node> node;
  Ref<GradientSlot> leaf;

  explicit operator bool() const noexcept { return node || leaf; }
};

/// Renews the history of a view after an in-place write to the elements that it shares with its
/// base.
void renew_written_view(TensorImpl& view);
inline void renew_view_history(TensorImpl& impl) {
  if (impl.base) renew_written_view(impl);
}

/// Returns the edge for gradients of `tensor`. If the base of a view was written in place, the
/// view's history is renewed first.
Edge gradient_edge(const Tensor& tensor);

/// Elements that are not saved, but computed again when a derivative needs them.
/// autograd::checkpoint saves memory in this way.
class Recomputation : public RefCounted {
 public:
  /// Records a tensor that is saved while this is the thread's latest Recomputation. Returns its
  /// number among such tensors.
  virtual std::size_t note(const Array& array) = 0;
  /// Returns the elements of tensor `index`, computed again.
  virtual Array recompute(std::size_t index) = 0;
  /// Checks that the elements can be computed again, for the operation `saver`.
  ///
  /// Throws: AutogradError - they cannot be computed again
  virtual void check(const char* saver) const = 0;

  static void destroy(Recomputation* recomputation) noexcept { delete recomputation; }

  /// Makes `recomputation` the latest of this thread during its lifetime.
  class Scope {
   public:
    explicit Scope(Recomputation* recomputation) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Recomputation* before_;
  };

 protected:
  virtual ~Recomputation() = default;
};

/// A tensor saved for backward: its elements, their version, and its history.
///
/// The handle itself is not saved. A later in-place write may make this graph the handle's history,
/// and then the graph would own itself.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// Saves a tensor.
  ///
  /// The history of an operation's own output is the node that unpack receives. The history of an
  /// input is the node's edge to it, `input_edge`, which must outlive this object.
  SavedTensor(const Tensor& tensor, bool is_output, const Edge* input_edge = nullptr);
  /// Returns the tensor with its history. `node` is the node that saved it.
  Tensor unpack(Node* node) const;
  /// Checks that the elements were not changed since they were saved.
  ///
  /// Throws: AutogradError - they were changed; the error names both operations
  void check_version(const char* saver) const;

  /// Returns the elements, without a check of their version. The array is undefined if nothing is
  /// saved, or if the elements must be computed again.
  const Array& array() const noexcept { return array_; }

 private:
  const Edge& edge() const noexcept { return input_edge_ != nullptr ? *input_edge_ : own_edge_; }

  Array array_;
  const Edge* input_edge_ = nullptr;
  Edge own_edge_;                     // for a tensor that is neither an input nor the output
  Ref<Recomputation> recomputation_;  // computes the elements if array_ is undefined
  std::size_t index_ = 0;
  std::uint32_t version_ = 0;
  bool is_output_ = false;
};

}  // namespace tend
