// Records the state of tensors, so that a test can check later whether anything has changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/tensor.h>

namespace tend::test {

/// A record of all visible state of some tensors: elements, shape, strides, dtype, version,
/// requires_grad, gradients with their elements, grad_fn and base.
///
/// It copies a tensor's whole storage. So it also finds a write next to the tensor's elements. One
/// element that is expanded to 2^40 elements needs memory for only one element.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
    for (const Tensor& tensor : tensors_) states_.push_back(state_of(tensor));
  }

  /// The first difference from the recorded state, such as "tensor 1: the elements", or an empty
  /// string if nothing has changed.
  ///
  /// Tensors whose numbers are in `except` are not compared. Gradients are compared only if
  /// `with_grads` is true.
  std::string difference(const std::vector<std::size_t>& except = {},
                         bool with_grads = true) const {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (std::find(except.begin(), except.end(), i) != except.end()) continue;
      const std::string what = difference(states_[i], state_of(tensors_[i]), with_grads);
      if (!what.empty()) return as_text("tensor ", i, ": ", what);
    }
    return {};
  }

  const std::vector<Tensor>& tensors() const noexcept { return tensors_; }

 private:
  // An array's view of its storage, and all bytes of the storage.
  struct Elements {
    const Storage* storage = nullptr;
    DType dtype = float32;
    Shape shape, strides;
    std::int64_t offset = 0;
    std::uint32_t version = 0;
    std::vector<std::byte> bytes;
  };
  struct State {
    const TensorImpl* impl = nullptr;
    Elements elements;
    const TensorImpl* grad = nullptr;
    Elements grad_elements;
    const Node* grad_fn = nullptr;
    std::string grad_fn_name;
    const TensorImpl* base = nullptr;
    bool requires_grad = false, is_leaf = false, retains_grad = false, is_parameter = false;
  };

  static Elements elements_of(const Array& array) {
    if (!array.defined()) return {};
    const Storage& storage = *array.storage();
    Elements elements{
        &storage, array.dtype(), array.shape(), array.strides(), array.offset(), storage.version(),
        {}};
    elements.bytes.assign(storage.data(), storage.data() + storage.bytes());
    return elements;
  }

  static State state_of(const Tensor& tensor) {
    State state;
    if (!tensor.defined()) return state;
    const TensorImpl& impl = *tensor.impl();
    state.impl = &impl;
    state.requires_grad = tensor.requires_grad();  // also updates the grad_fn of a view
    state.is_leaf = tensor.is_leaf();
    state.elements = elements_of(impl.array);
    if (impl.grad) state.grad_elements = elements_of(impl.grad->array);
    state.grad = impl.grad.get();
    state.grad_fn = impl.grad_fn.get();
    if (impl.grad_fn) state.grad_fn_name = impl.grad_fn->grad_fn();
    state.base = impl.base.get();
    state.retains_grad = impl.retains_grad;
    state.is_parameter = impl.is_parameter;
    return state;
  }

  static std::string difference(const Elements& before, const Elements& now) {
    if (before.dtype != now.dtype) return as_text("dtype ", before.dtype, " -> ", now.dtype);
    if (before.shape != now.shape) return as_text("shape ", before.shape, " -> ", now.shape);
    if (before.strides != now.strides)
      return as_text("strides ", before.strides, " -> ", now.strides);
    if (before.offset != now.offset) return as_text("offset ", before.offset, " -> ", now.offset);
    if (before.storage != now.storage) return "other memory";
    if (before.bytes != now.bytes) return "the elements";
    if (before.version != now.version)
      return as_text("version ", before.version, " -> ", now.version);
    return {};
  }

  static std::string difference(const State& before, const State& now, bool with_grads) {
    if (before.impl != now.impl) return "another tensor";
    if (std::string what = difference(before.elements, now.elements); !what.empty()) return what;
    if (before.requires_grad != now.requires_grad) return "requires_grad";
    if (before.is_leaf != now.is_leaf) return "is_leaf";
    if (before.grad_fn_name != now.grad_fn_name)
      return as_text("grad_fn ", before.grad_fn_name, " -> ", now.grad_fn_name);
    if (before.grad_fn != now.grad_fn) return "another grad_fn of the same name";
    if (with_grads && before.grad != now.grad) return "another grad";
    if (const std::string what = difference(before.grad_elements, now.grad_elements);
        with_grads && !what.empty())
      return "grad: " + what;
    if (before.base != now.base) return "the base";
    if (before.retains_grad != now.retains_grad) return "retains_grad";
    return before.is_parameter != now.is_parameter ? "is_parameter" : "";
  }

  std::vector<Tensor> tensors_;
  std::vector<State> states_;
};

}  // namespace tend::test
