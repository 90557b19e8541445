// Hooks that users attach to modules, and the path of a running module in its tree.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/autograd/graph/call_scope.h>
#include <tend/autograd/tensor/hook_list.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/error.h>
#include <tend/core/base/function_ref.h>
#include <tend/core/base/nested_call.h>

namespace tend::nn {

class ModuleBase;

/// A function of these arguments that may replace one of them, the only one that is not const. It
/// writes to this argument or, as in PyTorch, returns the new value. If it returns an undefined
/// tensor or an empty list, the argument does not change.
template <class... Arguments>
class ModuleHook {
 public:
  ModuleHook() = default;
  template <class F>
  requires std::invocable<F&, Arguments...> ModuleHook(F f) : call_(make_call(std::move(f))) {}
  void operator()(Arguments... arguments) const { call_(arguments...); }
  friend bool is_empty_function(const ModuleHook& hook) noexcept { return !hook.call_; }

 private:
  using Call = std::function<void(Arguments...)>;
  using Tensors = std::vector<Tensor>;

  template <class F>
  static Call make_call(F f) {
    Call call;  // all returns use it, because of a bug in GCC 12 (see TensorHook)
    if (tend::is_empty_function(f)) return call;
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Arguments...>>) {
      call = std::move(f);
    } else {
      call = [f = std::move(f)](Arguments... arguments) mutable {
        replace(f(arguments...), arguments...);
      };
    }
    return call;
  }
  static void replace(const Tensor& output, const ModuleBase&, const Tensors&, Tensor& old) {
    if (output.defined()) old = output;
  }
  static void replace(const Tensor& input, const ModuleBase&, Tensors& old) {
    if (input.defined()) old = {input};
  }
  static void replace(Tensors inputs, const ModuleBase&, Tensors& old) {
    if (!inputs.empty()) old = std::move(inputs);
  }
  static void replace(const Tensor& grad_input, Tensors& old, const Tensor&) {
    if (grad_input.defined()) old = {grad_input};
  }
  static void replace(Tensors grad_inputs, Tensors& old, const Tensor&) {
    if (!grad_inputs.empty()) old = std::move(grad_inputs);
  }

  Call call_;
};

/// Called before forward with the tensors among its arguments, which it may replace.
using ForwardPreHook = ModuleHook<const ModuleBase& /*module*/, std::vector<Tensor>& /*inputs*/>;
/// Called after forward with its result, which it may replace.
using ForwardHook = ModuleHook<const ModuleBase& /*module*/, const std::vector<Tensor>& /*inputs*/,
                               Tensor& /*output*/>;
/// Called in backward with the gradient of the module's result and the gradients of its tensor
/// arguments. The hook may replace the gradients of the arguments by others of the same shape and
/// dtype. The gradient of an argument that does not require grad is undefined. If no argument
/// requires grad, `grad_inputs` is empty.
using BackwardHook =
    ModuleHook<std::vector<Tensor>& /*grad_inputs*/, const Tensor& /*grad_output*/>;

/// All hooks of one module.
struct ModuleHooks {
  HookList<ForwardPreHook> before;
  HookList<ForwardHook> after;
  HookList<BackwardHook> backward;

  /// Makes these lists independent of the lists of the module's copies.
  void separate();
  bool empty() const noexcept;
};

/// While this object lives, the module counts as running, so that messages contain its path.
class ModuleScope final : public CallScope {
 public:
  explicit ModuleScope(const ModuleBase& module) : module_(module) {}
  ~ModuleScope() = default;
  /// The outermost module's class, then the names that lead from there to this module.
  std::string path() const override;
  /// The outermost of the modules that are running.
  const ModuleBase& root() const;

  /// Throws the error again, with the path of this module at the end of its text. The error is
  /// unchanged if
  /// - a module within this one has added its path,
  /// - this module is not within another, or
  /// - the error is of a class that the library does not know.
  [[noreturn]] void rethrow_with_path(const Error& error) const;

 private:
  const NestedCall nested_{"Module"};
  const ModuleBase& module_;
};

/// Runs the hooks and, between them, `forward`. Hooks may replace the inputs that `forward` gets.
Tensor call_with_hooks(const ModuleBase& module, const ModuleHooks& hooks,
                       std::vector<Tensor> inputs,
                       FunctionRef<Tensor(const std::vector<Tensor>&)> forward);

}  // namespace tend::nn
