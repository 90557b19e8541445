// What a Tensor handle points to.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <tend/autograd/tensor/hook_list.h>
#include <tend/core/array/array.h>
#include <tend/core/base/destroy.h>
#include <tend/core/base/fork.h>
#include <tend/core/base/ref.h>

namespace tend {

class Node;
class Tensor;
struct TensorImpl;

/// Sees the gradient of a tensor before it goes on, and may give another in its place, of the same
/// shape and dtype: anything that can be called with a tensor and returns a tensor (undefined: no
/// change) or nothing.
class TensorHook {
 public:
  template <class F>
  requires std::invocable<const F&, const Tensor&> TensorHook(F f)
      : call_(with_memory([&] { return make_call(std::move(f)); })) {}
  /// The gradient to go on with; ShapeError or DTypeError when the hook gave one that does
  /// not fit.
  Tensor operator()(const Tensor& gradient) const;

 private:
  using Call = std::function<void(const Tensor& gradient, Tensor& replacement)>;

  template <class F>
  static Call make_call(F f) {
    return [f = std::move(f)](const Tensor& gradient, Tensor& replacement) {
      if constexpr (std::is_void_v<decltype(f(gradient))>) {
        f(gradient);
      } else {
        replacement = f(gradient);
      }
    };
  }

  Call call_;
};

using TensorHooks = HookList<TensorHook>;

/// Where a graph finds the tensor that waits for a gradient. It does not keep that tensor alive:
/// a gradient with a graph of its own (create_graph) would otherwise own itself.
struct GradientSlot final : RefCounted, Pooled, DestroyedInTurn<GradientSlot> {
  /// What the tensor was for the graphs that lead here, when it has another slot now.
  struct Former {
    Shape shape;
    DType dtype;
    Ref<GradientSlot> successor;
  };

  explicit GradientSlot(TensorImpl* tensor) noexcept : owner(tensor) {}
  static void destroy(GradientSlot* slot) noexcept;

  detail::ObjectMutex mutex;       // guards what follows, and the owner's grad while it is added to
  std::atomic<TensorImpl*> owner;  // nullptr once the tensor is gone, or has another slot
  std::optional<Former> former;    // of a leaf that became another view, or got other elements
  TensorHooks hooks;               // of a leaf
};

/// The elements, and what autograd knows about them. Use Tensor; this is for the graph's own code.
struct TensorImpl final : RefCounted, Pooled, DestroyedInTurn<TensorImpl> {
  explicit TensorImpl(Array&& elements) noexcept;
  static void destroy(TensorImpl* impl) noexcept;

  /// Replaces grad_fn. A retained gradient is that of the tensor's latest value.
  void set_grad_fn(Ref<Node> node) noexcept;
  /// The slot, made at the first call.
  const Ref<GradientSlot>& gradient_slot();
  /// For a leaf that is about to become one of another shape, layout or dtype: a gradient for what
  /// it has been would not fit any more, so graphs that were recorded before must not find it. The
  /// first part needs memory; nothing where no graph can know the tensor.
  std::optional<GradientSlot::Former> prepare_new_slot();
  void take_new_slot(std::optional<GradientSlot::Former>&& former) noexcept;
  /// Other elements; the tensor is then a view of nothing.
  void set_elements(Array&& elements) noexcept;

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

/// ShapeError or DTypeError that names both where `gradient` is none for the tensor.
void check_grad_fits(const char* operation, const TensorImpl& tensor, const Array& gradient);
/// The same of the gradient that the tensor has, if any: it no longer fits after the tensor became
/// one of another shape or dtype. To be called by everyone who is about to use it.
inline void check_own_grad_fits(const char* operation, const TensorImpl& tensor) {
  if (tensor.grad) check_grad_fits(operation, tensor, tensor.grad->array);
}

}  // namespace tend
