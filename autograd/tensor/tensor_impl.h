// The data that a Tensor handle points to.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

#include <tend/autograd/tensor/hook_list.h>
#include <tend/core/array/array.h>
#include <tend/core/base/destroy.h>
#include <tend/core/base/ref.h>

namespace tend {

class Node;
class Tensor;
struct TensorImpl;

/// A hook that sees the gradient of a tensor before the engine passes it on, and may replace it.
///
/// It is a function of a tensor. It returns nothing, or a tensor of the same shape and dtype. An
/// undefined tensor changes nothing.
class TensorHook {
 public:
  template <class F>
  requires std::invocable<F&, const Tensor&> TensorHook(F f) : call_(make_call(std::move(f))) {}
  /// Calls the hook and returns the gradient to pass on.
  ///
  /// Throws:
  ///   DTypeError - the hook's gradient has another dtype
  ///   ShapeError - the hook's gradient has another shape
  Tensor operator()(const Tensor& gradient) const;
  friend bool is_empty_function(const TensorHook& hook) noexcept { return !hook.call_; }

 private:
  using Call = std::function<void(const Tensor& gradient, Tensor& replacement)>;

  template <class F>
  static Call make_call(F f) {
    Call call;  // all returns use it: with a second Call, GCC 12 at -O1 loses a hook's writes
    if (is_empty_function(f)) return call;
    call = [f = std::move(f)](const Tensor& gradient, Tensor& replacement) mutable {
      if constexpr (std::is_void_v<decltype(f(gradient))>) {
        f(gradient);
      } else {
        replacement = f(gradient);
      }
    };
    return call;
  }

  Call call_;
};

using TensorHooks = HookList<TensorHook>;

/// The reference from a graph to a tensor to whose `.grad` backward adds.
///
/// It does not own the tensor. A `.grad` with a graph (create_graph) refers back to the tensor, so
/// the two would own each other.
struct GradientSlot final : RefCounted, Pooled, DestroyedInTurn<GradientSlot> {
  explicit GradientSlot(TensorImpl* tensor) noexcept : owner(tensor) {}
  static void destroy(GradientSlot* slot) noexcept;

  std::mutex mutex;                // guards the owner, and its grad during an addition
  std::atomic<TensorImpl*> owner;  // nullptr once the tensor is gone
  TensorHooks hooks;               // the hooks of a leaf
};

/// The elements of a tensor, and its autograd data. Users use Tensor; this is for the code of the
/// graph.
struct TensorImpl final : RefCounted, Pooled, DestroyedInTurn<TensorImpl> {
  explicit TensorImpl(Array&& elements) noexcept;
  static void destroy(TensorImpl* impl) noexcept;

  /// Replaces grad_fn. retain_grad() moves to the new node, because it is for the tensor's latest
  /// value.
  void set_grad_fn(Ref<Node> node) noexcept;
  /// Returns the slot, which the first call creates.
  const Ref<GradientSlot>& gradient_slot();
  /// Replaces the elements. The tensor is no longer a view afterwards.
  void set_elements(Array&& elements) noexcept;

  Array array;
  Ref<Node> grad_fn;     // null for leaves
  Ref<TensorImpl> grad;  // the accumulated gradient
  Ref<GradientSlot> slot;
  // For a view that was made in grad mode: the tensor that owns the history of the shared elements.
  Ref<TensorImpl> base;
  // For a view: the storage version that its grad_fn belongs to. Several threads may read one view.
  std::atomic<std::uint32_t> base_version = 0;
  bool requires_grad = false;  // set by the user; results of operations have a grad_fn instead
  bool retains_grad = false;
  bool is_parameter = false;  // prints as "Parameter containing:"

 private:
  TensorImpl(const TensorImpl&) = delete;
  ~TensorImpl();
};

/// Checks that `gradient` has the tensor's shape and dtype. Errors name both.
///
/// Throws:
///   DTypeError - the dtypes differ
///   ShapeError - the shapes differ
void check_grad_fits(const char* operation, const TensorImpl& tensor, const Array& gradient);
/// Checks that the tensor's own gradient, if any, still has the tensor's shape and dtype.
///
/// The tensor may have got another shape or dtype since the gradient was set. Call this function
/// before the gradient is used. The errors are the same as for check_grad_fits.
inline void check_own_grad_fits(const char* operation, const TensorImpl& tensor) {
  if (tensor.grad) check_grad_fits(operation, tensor, tensor.grad->array);
}

}  // namespace tend
