// In-place operations: the only way to change the elements of tensors in a graph.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include <tend/autograd/graph/naming.h>
#include <tend/autograd/graph/node.h>
#include <tend/core/array/scalar.h>
#include <tend/core/base/function_ref.h>

namespace tend {

/// Checks that `self` may be written in place. Errors name `operation`.
///
/// Throws:
///   AutogradError - grad mode is on, and self is a leaf that requires grad or a view of one
///   ShapeError    - two indices of self share an element
void check_writable(const char* operation, const Tensor& self);

/// Checks what check_writable checks, except for the ShapeError.
void check_history_writable(const char* operation, const Tensor& self);

/// Checks that self may get the history of a result. Errors name `operation`.
///
/// Throws: ShapeError - self is a view of a tensor in which two indices share an element
void check_recordable(const char* operation, const Tensor& self);

/// Returns a tensor with self's elements and history, for an operation that will overwrite self.
///
/// It is a copy if a graph may be recorded from `inputs` or self, and self otherwise.
Tensor before_write(const Tensor& self, TensorRefs inputs);

/// Checks that a result of this shape and dtype fits in place of self. Errors name `operation`.
///
/// Throws:
///   DTypeError - the result has a higher dtype category than self
///   ShapeError - the result has another shape than self
void check_fits(const char* operation, const Tensor& self, const Shape& shape, DType dtype);

/// Replaces self's elements by the elements of `result`, converted to self's dtype. If `result` has
/// a history, it also becomes self's history.
///
/// If self is a view, its base gets a history in which this view's part comes from `result`. The
/// function throws the errors of check_fits and of PendingWrite.
void write(const char* operation, const Tensor& self, const Tensor& result);

/// A write to self's elements in two steps.
///
/// Only the first step can fail. So elements, version and history change together, or not at all.
class PendingWrite {
 public:
  /// Prepares the history that self will have, which is the history of `result`.
  ///
  /// If self is a view, the base gets a history in which this view's part comes from `result`.
  /// `operation` must live forever. If `result` has a history, check_recordable may throw.
  PendingWrite(const char* operation, const Tensor& self, const Tensor& result);
  /// Raises the version and sets the history. Call it after self's elements were overwritten.
  void commit() noexcept;
  /// Sets only the history, for callers that have raised the version already.
  void take_history() noexcept;

 private:
  const char* operation_;
  Ref<TensorImpl> self_;
  Ref<TensorImpl> base_;      // if self is a view: the owner of its history
  Ref<Node> node_;            // the new grad_fn of the base, or of self; may be null
  Ref<Node> view_node_ = {};  // the new grad_fn of a view that retains its gradient
};

/// Writes compute(self before the write) to self, in place.
///
/// `operation` must live forever. Errors name it.
template <class F>
const Tensor& in_place(const char* operation, const Tensor& self, TensorRefs inputs,
                       F&& compute) try {
  check_writable(operation, self);
  write(operation, self, std::forward<F>(compute)(before_write(self, inputs)));
  return self;
} catch (const Error&) {
  rename_error(operation);
}

namespace detail {
template <class T>
concept PassedByReference = std::same_as<T, Tensor> || std::same_as<T, Scalar> ||
    std::same_as<T, Shape> || std::same_as<T, std::optional<Scalar>>;
/// The type by which operations accept an argument of type T.
template <class T>
using Passed = std::conditional_t<PassedByReference<T>, const T&, T>;

/// Returns `argument` if it is a tensor, and `other` otherwise. `update` uses it to list the
/// tensors that the result's history may need.
template <class T>
const Tensor& tensor_or(const Tensor& other, const T& argument) {
  if constexpr (std::same_as<T, Tensor>) {
    return argument;
  } else {
    return other;
  }
}
}  // namespace detail

/// Computes f(self, arguments...) and copies the result to self.
///
/// Elementwise operations write to self directly (autograd/ops/elementwise.h).
template <class... Arguments>
const Tensor& update(
    const char* operation, const Tensor& self,
    std::type_identity_t<Tensor (*)(const Tensor&, detail::Passed<Arguments>...)> f,
    const Arguments&... arguments) {
  return in_place(operation, self, {detail::tensor_or(self, arguments)...},
                  [&](const Tensor& before) { return f(before, arguments...); });
}

/// Replaces self by view(self). All handles of self show the view afterwards. No element changes.
const Tensor& become(const char* operation, const Tensor& self,
                     FunctionRef<Tensor(const Tensor&)> view);

/// Makes self the view f(self, arguments...).
template <class... Arguments>
const Tensor& update_view(
    const char* operation, const Tensor& self,
    std::type_identity_t<Tensor (*)(const Tensor&, detail::Passed<Arguments>...)> f,
    const Arguments&... arguments) {
  return become(operation, self, [&](const Tensor& before) { return f(before, arguments...); });
}

}  // namespace tend
