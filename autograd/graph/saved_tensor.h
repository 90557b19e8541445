// What the graph keeps of tensors: where gradients go, and what derivatives will read.
#pragma once

#include <cstdint>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

class Node;

/// Where the gradient of one input goes: to the node that made it, to a leaf, or (both null)
/// nowhere.
struct Edge {
  Ref<Node> node;
  Ref<GradientSlot> leaf;

  explicit operator bool() const noexcept { return node || leaf; }
};

/// Makes the history of a view that of its base, after an in-place write to the shared elements.
void renew_written_view(TensorImpl& view);
inline void renew_view_history(TensorImpl& impl) {
  if (impl.base) renew_written_view(impl);
}

/// The edge for gradients of `tensor`. The history of a view whose base was written in place is
/// renewed first.
Edge gradient_edge(const Tensor& tensor);

/// Elements that are not kept but computed again when a derivative asks for them: how
/// autograd::checkpoint saves memory.
class Recomputation : public RefCounted {
 public:
  /// Called for every tensor that is saved while this is the thread's latest; returns its number
  /// among them.
  virtual std::size_t note(const Array& array) = 0;
  /// The elements of tensor `index`.
  virtual Array recompute(std::size_t index) = 0;
  /// AutogradError when the elements cannot be computed again, for the operation `saver`.
  virtual void check(const char* saver) const = 0;

  static void destroy(Recomputation* recomputation) noexcept { delete recomputation; }

  /// Makes `recomputation` the thread's latest while it lives.
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

/// A tensor kept for backward: its elements, their version, and its history. The handle itself is
/// not kept: it may get a later history by an in-place write, and then the graph would own itself.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// The history of an operation's own output is the node, which unpack is given; that of an input
  /// is the node's edge to it, `input_edge`, which must outlive this.
  SavedTensor(const Tensor& tensor, bool is_output, const Edge* input_edge = nullptr);
  /// The tensor, its history attached; `node` is the one that saved it.
  Tensor unpack(Node* node) const;
  /// AutogradError naming both operations if the elements were changed since.
  void check_version(const char* saver) const;

  /// For its shape and dtype; undefined where nothing is saved, or the elements are to be computed
  /// again.
  const Array& array() const noexcept { return array_; }

 private:
  const Edge& edge() const noexcept { return input_edge_ != nullptr ? *input_edge_ : own_edge_; }

  Array array_;
  const Edge* input_edge_ = nullptr;
  Edge own_edge_;                     // of a tensor that is neither an input nor the output
  Ref<Recomputation> recomputation_;  // has the elements where array_ is undefined
  std::size_t index_ = 0;
  std::uint32_t version_ = 0;
  bool is_output_ = false;
};

}  // namespace tend
