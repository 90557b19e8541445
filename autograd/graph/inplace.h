// In-place operations: the only way to change the elements of tensors that are in a graph.
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

/// Checks that `self` may be written in place.
///
/// Throws, naming `operation`:
///   ShapeError     - two indices of self share an element
///   AutogradError  - grad mode is on, and self is a leaf that requires grad or a view of one
void check_writable(const char* operation, const Tensor& self);

/// check_writable without the ShapeError.
void check_history_writable(const char* operation, const Tensor& self);

/// Checks that self may get the history of a result.
///
/// Throws, naming `operation`:
///   ShapeError  - self is a view of a tensor of which two indices share an element
void check_recordable(const char* operation, const Tensor& self);

/// A tensor with self's elements and history for an operation that will overwrite self: a copy
/// where a graph may be recorded from `inputs` (or self), otherwise self.
Tensor before_write(const Tensor& self, TensorRefs inputs);

/// Checks that a result of this shape and dtype fits in place of self. Errors name `operation`:
/// ShapeError for another shape, DTypeError for a higher dtype category.
void check_fits(const char* operation, const Tensor& self, const Shape& shape, DType dtype);

/// Replaces self's elements by those of `result`, converted to self's dtype, and self's history by
/// its history, if any (for a view: the view's part of the base's history). Errors of check_fits.
void write(const char* operation, const Tensor& self, const Tensor& result);

/// A write to self's elements in two steps. Everything that can fail is in the first, so that
/// elements, version and history change together or not at all.
class PendingWrite {
 public:
  /// Prepares the history that self will have: that of `result` (for a view: as the view's part of
  /// the base's history). `operation` must live forever. Errors of check_recordable where the
  /// result has a history.
  PendingWrite(const char* operation, const Tensor& self, const Tensor& result);
  /// To be called after self's elements were overwritten: raises the version, sets the history.
  void commit() noexcept;
  /// The same for a version that was raised already.
  void take_history() noexcept;

 private:
  const char* operation_;
  Ref<TensorImpl> self_;
  Ref<TensorImpl> base_;      // of a view that takes part in its history
  Ref<Node> node_;            // new grad_fn of the base, or of self; null: none
  Ref<Node> view_node_ = {};  // that of a view that retains its gradient
};

/// self = compute(self before the write), in place. `operation` must live forever; errors name it.
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
/// How operations take an argument of type T.
template <class T>
using Passed = std::conditional_t<PassedByReference<T>, const T&, T>;

/// `argument` where it is a tensor, whose graph the result may continue; otherwise `other`.
template <class T>
const Tensor& tensor_or(const Tensor& other, const T& argument) {
  if constexpr (std::same_as<T, Tensor>) {
    return argument;
  } else {
    return other;
  }
}
}  // namespace detail

/// self = f(self, arguments...), computed beside self and then copied. Elementwise operations write
/// to self directly (autograd/ops/elementwise.h).
template <class... Arguments>
const Tensor& update(
    const char* operation, const Tensor& self,
    std::type_identity_t<Tensor (*)(const Tensor&, detail::Passed<Arguments>...)> f,
    const Arguments&... arguments) {
  return in_place(operation, self, {detail::tensor_or(self, arguments)...},
                  [&](const Tensor& before) { return f(before, arguments...); });
}

/// Makes self the tensor view(self), for every handle of it; no element changes.
const Tensor& become(const char* operation, const Tensor& self,
                     FunctionRef<Tensor(const Tensor&)> view);

/// self = f(self, arguments...), where f is a view.
template <class... Arguments>
const Tensor& update_view(
    const char* operation, const Tensor& self,
    std::type_identity_t<Tensor (*)(const Tensor&, detail::Passed<Arguments>...)> f,
    const Arguments&... arguments) {
  return become(operation, self, [&](const Tensor& before) { return f(before, arguments...); });
}

}  // namespace tend
