// What a Tensor handle points to.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <tend/autograd/hook_list.h>
#include <tend/core/array.h>
#include <tend/core/fork.h>
#include <tend/core/ref.h>

namespace tend {

class Node;
class Tensor;
struct TensorImpl;

/// Sees the gradient of a tensor before it goes on, and may give another in its place, of the same
/// shape: anything that can be called with a tensor and returns a tensor (undefined: no change) or
/// nothing.
class TensorHook {
 public:
  template <class F>
  requires std::invocable<const F&, const Tensor&> TensorHook(F f)
      : call_([f = std::move(f)](const Tensor& gradient, Tensor& replacement) {
          if constexpr (std::is_void_v<decltype(f(gradient))>) {
            f(gradient);
          } else {
            replacement = f(gradient);
          }
        }) {}
  /// The gradient to go on with; ShapeError when the hook gave one of another shape.
  Tensor operator()(const Tensor& gradient) const;

 private:
  std::function<void(const Tensor& gradient, Tensor& replacement)> call_;
};

using TensorHooks = HookList<TensorHook>;

/// Where a graph finds the tensor that waits for a gradient. It does not keep that tensor alive:
/// a gradient with a graph of its own (create_graph) would otherwise own itself.
struct GradientSlot final : RefCounted, Pooled {
  explicit GradientSlot(TensorImpl* tensor) noexcept : owner(tensor) {}
  static void destroy(GradientSlot* slot) noexcept;

  detail::ObjectMutex mutex;       // guards owner, and its grad while a backward adds to it
  std::atomic<TensorImpl*> owner;  // nullptr once the tensor is gone
  TensorHooks hooks;               // of a leaf
};

/// The elements, and what autograd knows about them. Use Tensor; this is for the graph's own code.
struct TensorImpl final : RefCounted, Pooled {
  explicit TensorImpl(Array&& elements) noexcept;
  static void destroy(TensorImpl* impl) noexcept;

  /// Replaces grad_fn. A retained gradient is that of the tensor's latest value.
  void set_grad_fn(Ref<Node> node) noexcept;
  /// The slot, made at the first call.
  const Ref<GradientSlot>& gradient_slot();

  Array array;
  Ref<Node> grad_fn;     // null for leaves
  Ref<TensorImpl> grad;  // the accumulated gradient
  Ref<GradientSlot> slot;
  Ref<TensorImpl> base;  // for a view: the tensor that owns the history of the shared elements
  bool view_without_grad = false;  // made while grad mode was off: has no part in that history
  std::atomic<std::uint32_t> base_version = 0;  // storage version for which a view's grad_fn holds
  bool requires_grad =
      false;  // asked for by the user; results of operations have a grad_fn instead
  bool retains_grad = false;
  bool is_parameter = false;  // prints as "Parameter containing:"

 private:
  TensorImpl(const TensorImpl&) = delete;
  ~TensorImpl();
};

}  // namespace tend
