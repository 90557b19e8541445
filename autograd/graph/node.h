// The graph: a Node for each recorded operation, with edges from its result back to its inputs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/graph/saved_tensor.h>
#include <tend/autograd/graph/timeline.h>

namespace tend {

/// The data of a derivative, which reads the cotangent of the operation's result and the saved
/// tensors, and sets the gradients of the inputs.
class Derivative {
 public:
  /// The results of needs() and sum() for an input.
  struct Recipient {
    bool needed = false;
    const Array* sum = nullptr;
  };
  Derivative(Node& node, Tensor grad, std::span<const Recipient> recipients,
             std::span<Tensor> gradients) noexcept
      : node_(node), grad_(std::move(grad)), recipients_(recipients), gradients_(gradients) {}

  /// Returns the gradient with respect to the operation's result. It has the result's shape and
  /// dtype.
  const Tensor& grad() const noexcept { return grad_; }
  /// Returns the i-th tensor that the operation saved.
  Tensor saved(std::size_t i) const;
  /// True if the gradient of input i is needed.
  bool needs(std::size_t input) const noexcept { return recipients_[input].needed; }
  /// Sets the gradient of input i.
  ///
  /// It may still have the broadcast shape and another floating dtype: the engine sums and
  /// converts. An input that is not set has gradient zero.
  void set(std::size_t input, Tensor gradient) { gradients_[input] = std::move(gradient); }

  /// Returns the sum of the gradients that other nodes have given to input i, or nullptr.
  ///
  /// The derivative may add its gradient to this array instead of calling set.
  /// The array has the input's shape and dtype, is row-major, and nobody else uses it.
  const Array* sum(std::size_t input) const noexcept { return recipients_[input].sum; }
  std::span<Tensor> gradients() const noexcept { return gradients_; }

 private:
  Node& node_;
  Tensor grad_;
  std::span<const Recipient> recipients_;
  std::span<Tensor> gradients_;
};

/// Data that only few nodes need.
struct NodeNotes : Pooled {
  TensorHooks hooks;  // for the gradient of the result

  // Filled in by DetectAnomaly.
  std::string module;             // the path of the module that ran
  std::int64_t nan_element = -1;  // row-major index of the first NaN of the result
  std::int64_t nan_input = -1;    // the first input that had NaN already
};

/// A recorded operation with one differentiable result.
class Node : public RefCounted, public Pooled, public DestroyedInTurn<Node> {
 public:
  /// tend's name of the operation, such as "linear".
  const char* operation() const noexcept { return operation_; }
  /// The name that `grad_fn` prints, which is PyTorch's, such as "AddmmBackward0".
  const char* grad_fn() const noexcept { return grad_fn_; }
  /// The position in the order of recording, across all threads. It is larger than for the nodes to
  /// which this node's edges lead. The engine visits the node with the largest number first.
  std::uint64_t sequence() const noexcept { return sequence_; }
  std::span<const Edge> edges() const noexcept { return edges_; }
  std::span<const SavedTensor> saved() const noexcept { return saved_; }
  /// The shape and the dtype of the operation's result.
  const Shape& shape() const noexcept { return shape_; }
  DType dtype() const noexcept { return dtype_; }

  bool is_freed() const noexcept { return freed_; }
  /// Checks that the saved tensors can be used.
  ///
  /// Throws: AutogradError - the saved tensors were freed, or one of them was changed since
  void check_saved() const;
  /// Frees the saved tensors.
  void release();
  virtual void differentiate(Derivative& derivative) const = 0;

  const NodeNotes* notes() const noexcept { return notes_.get(); }
  /// Returns the notes, which the first call creates.
  NodeNotes& make_notes();

  /// The tensor that requested to retain the gradient of this node's result, if any.
  Ref<GradientSlot> retainer;

  static void destroy(Node* node) noexcept;

 protected:
  Node(const char* operation, const char* grad_fn) noexcept;
  virtual ~Node() = default;

 private:
  friend class Recorder;
  const char* operation_;
  const char* grad_fn_;
  std::uint64_t sequence_ = 0;
  bool saves_ = false;  // true if it saves at least one tensor
  bool freed_ = false;
  DType dtype_ = float32;
  Shape shape_;
  std::vector<Edge, PoolAllocator<Edge>> edges_;
  std::vector<SavedTensor, PoolAllocator<SavedTensor>> saved_;
  std::unique_ptr<NodeNotes> notes_;
};

/// A Node whose derivative is a callable.
template <class F>
class FunctionNode final : public Node {
 public:
  FunctionNode(const char* operation, const char* grad_fn, F derivative)
      : Node(operation, grad_fn), derivative_(std::move(derivative)) {}
  void differentiate(Derivative& derivative) const override { derivative_(derivative); }

 private:
  F derivative_;
};

/// In a list of saved tensors, this means the operation's own result.
inline const Tensor kOutput;

/// A tensor in an argument list of `record`: a reference, or nothing.
class TensorRef {
 public:
  constexpr TensorRef() = default;
  constexpr TensorRef(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  const Tensor* get() const noexcept { return tensor_; }
  bool is_output() const noexcept { return tensor_ == &kOutput; }

 private:
  const Tensor* tensor_ = nullptr;
};

/// An entry for a list of saved tensors: `tensor` if `needed`, and an empty reference otherwise.
inline TensorRef save_if(bool needed, const Tensor& tensor) noexcept {
  return needed ? TensorRef(tensor) : TensorRef();
}

using TensorRefs = std::initializer_list<TensorRef>;

/// True if grad mode is on and one of the tensors requires grad.
bool tracks(std::span<const TensorRef> inputs);
inline bool tracks(TensorRefs inputs) {
  return tracks(std::span(inputs.begin(), inputs.size()));
}

/// Fills in a new node and attaches it to its result.
class Recorder {
 public:
  static Tensor attach(Ref<Node> node, Array&& result, std::span<const TensorRef> inputs,
                       std::span<const TensorRef> saved);
};

/// Returns the result of an operation, and records its derivative if one of `inputs` requires grad.
///
/// In `derivative`, needs(i) and set(i, ...) refer to inputs[i], and saved(i) to saved[i].
/// `grad_fn` is PyTorch's name of the node. `operation` is tend's name of the operation, by default
/// the calling function; a helper must pass the name. Both strings must live forever.
template <class F>
Tensor record(const char* grad_fn, Array&& result, std::span<const TensorRef> inputs,
              std::span<const TensorRef> saved, F derivative,
              const char* operation = __builtin_FUNCTION()) {
  if (autograd::Timeline::is_on()) autograd::Timeline::note(operation, result, inputs);
  if (!tracks(inputs)) return Tensor(std::move(result));
  return Recorder::attach(
      Ref<Node>::first(new FunctionNode<F>(operation, grad_fn, std::move(derivative))),
      std::move(result), inputs, saved);
}
template <class F>
Tensor record(const char* grad_fn, Array result, TensorRefs inputs, TensorRefs saved, F derivative,
              const char* operation = __builtin_FUNCTION()) {
  return record(grad_fn, std::move(result), std::span(inputs.begin(), inputs.size()),
                std::span(saved.begin(), saved.size()), std::move(derivative), operation);
}

/// Records that `view` shares the elements of `input`.
///
/// A view that is made while grad mode is off is detached: it has no part in the history of its
/// base.
void link_view(const Tensor& view, const Tensor& input);

/// Returns the tensor that owns the history of a view's elements.
///
/// It is nullptr for tensors that are not views, and after set_data gave the owner other elements.
Ref<TensorImpl> live_base(const TensorImpl& view);

/// Does what record does, for a result that shares `input`'s elements. An in-place write to one of
/// the two tensors changes the elements and the history of both.
template <class F>
Tensor record_view(const char* grad_fn, const Tensor& input, Array window, F derivative,
                   const char* operation = __builtin_FUNCTION()) {
  Tensor view = record(grad_fn, std::move(window), {input}, {}, std::move(derivative), operation);
  link_view(view, input);
  return view;
}

}  // namespace tend
