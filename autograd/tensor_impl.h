// What a Tensor handle points to.
#pragma once

#include <cstdint>

#include <tend/core/array.h>
#include <tend/core/ref.h>

namespace tend {

class Node;

/// The elements, and what autograd knows about them. Use Tensor; this is for the graph's own code.
struct TensorImpl final : RefCounted {
  explicit TensorImpl(Array elements);
  static void destroy(TensorImpl* impl) noexcept;

  Array array;
  Ref<Node> grad_fn;     // null for leaves
  Ref<TensorImpl> grad;  // the accumulated gradient
  Ref<TensorImpl> base;  // for a view: the tensor that owns the history of the shared elements
  std::uint32_t base_version = 0;  // storage version for which a view's grad_fn holds
  bool requires_grad =
      false;  // asked for by the user; results of operations have a grad_fn instead
  bool retains_grad = false;
  bool is_parameter = false;  // prints as "Parameter containing:"

 private:
  TensorImpl(const TensorImpl&) = delete;
  ~TensorImpl();
};

}  // namespace tend
