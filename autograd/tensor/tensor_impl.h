// What a Tensor handle points to.
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

/// Sees the gradient of a tensor before the engine passes it on, and may replace it: a function of
/// a tensor that returns nothing, or one of the same shape and dtype (undefined: no change).
class TensorHook {
 public:
  template <class F>
  requires std::invocable<F&, const Tensor&> TensorHook(F f) : call_(make_call(std::move(f))) {}
  /// The gradient to pass on; ShapeError or DTypeError where the one of the hook does not fit.
  Tensor operator()(const Tensor& gradient) const;
  friend bool is_empty_function(const TensorHook& hook) noexcept { return !hook.call_; }

 private:
  using Call = std::function<void(const Tensor& gradient, Tensor& replacement)>;

  template <class F>
  static Call make_call(F f) {
    Call call;  // one for all returns: GCC 12 at -O1 loses what hooks write to where there are two
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

/// How a graph refers to a tensor whose `.grad` it will add to. It does not own that tensor: a
/// `.grad` with a graph (create_graph) leads back to the tensor, and the two would own each other.
struct GradientSlot final : RefCounted, Pooled, DestroyedInTurn<GradientSlot> {
  explicit GradientSlot(TensorImpl* tensor) noexcept : owner(tensor) {}
  static void destroy(GradientSlot* slot) noexcept;

  std::mutex mutex;                // guards the owner, and its grad while it is added to
  std::atomic<TensorImpl*> owner;  // nullptr once the tensor is gone
  TensorHooks hooks;               // of a leaf
};

/// The elements, and what autograd knows about them. Use Tensor; this is for the graph's own code.
struct TensorImpl final : RefCounted, Pooled, DestroyedInTurn<TensorImpl> {
  explicit TensorImpl(Array&& elements) noexcept;
  static void destroy(TensorImpl* impl) noexcept;

  /// Replaces grad_fn. retain_grad() moves to the new node, since it is about the tensor's latest
  /// value.
  void set_grad_fn(Ref<Node> node) noexcept;
  /// The slot, made at the first call.
  const Ref<GradientSlot>& gradient_slot();
  /// Replaces the elements; the tensor is no longer a view.
  void set_elements(Array&& elements) noexcept;

  Array array;
  Ref<Node> grad_fn;     // null for leaves
  Ref<TensorImpl> grad;  // the accumulated gradient
  Ref<GradientSlot> slot;
  // Of a view that was made in grad mode: the tensor that owns the history of the shared elements.
  Ref<TensorImpl> base;
  // The storage version that a view's grad_fn is for. Threads may read one view at once.
  std::atomic<std::uint32_t> base_version = 0;
  bool requires_grad =
      false;  // asked for by the user; results of operations have a grad_fn instead
  bool retains_grad = false;
  bool is_parameter = false;  // prints as "Parameter containing:"

 private:
  TensorImpl(const TensorImpl&) = delete;
  ~TensorImpl();
};

/// ShapeError or DTypeError, naming both, unless `gradient` has the tensor's shape and dtype.
void check_grad_fits(const char* operation, const TensorImpl& tensor, const Array& gradient);
/// The same for the tensor's own gradient, if any, which no longer fits once the tensor has got
/// another shape or dtype. To be called before that gradient is used.
inline void check_own_grad_fits(const char* operation, const TensorImpl& tensor) {
  if (tensor.grad) check_grad_fits(operation, tensor, tensor.grad->array);
}

}  // namespace tend
