// Operations of your own, with a backward of your own.
//
//   struct Cube : autograd::Function<Cube> {
//     static Tensor forward(autograd::FunctionContext& context, const Tensor& x) {
//       context.save_for_backward({x});
//       return x * x * x;
//     }
//     static Tensor backward(const autograd::FunctionContext& context, const Tensor& grad) {
//       const Tensor x = context.saved(0);
//       return grad * 3 * x * x;
//     }
//   };
//   Tensor y = Cube().apply(x);
//
// What backward needs besides tensors can be members of the struct; forward and backward are then
// const member functions, and the graph keeps a copy of the object for each call. What forward
// finds out for backward and is no tensor goes into a mutable member; a tensor there would be read
// as it is then, or keep its own graph alive.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::autograd {

/// The argument by which a custom function's forward and backward share tensors.
class FunctionContext {
 public:
  /// In forward: keeps inputs, outputs or other tensors for backward. One that is changed in place
  /// meanwhile makes the backward throw AutogradError.
  void save_for_backward(std::vector<Tensor> tensors) noexcept { to_save_ = std::move(tensors); }
  /// In forward, best before it writes: says that it changes these inputs in place. It must return
  /// them, and they get the history of this call, as with mul_.
  ///
  /// Throws:
  ///   AutogradError  - one is a leaf that requires grad, or a view of one
  ///   ShapeError     - two indices of one share an element
  void mark_dirty(std::vector<Tensor> inputs);
  /// In forward: says that these outputs have no gradient. backward gets zeros for them.
  void mark_non_differentiable(std::vector<Tensor> outputs) noexcept {
    constant_ = std::move(outputs);
  }

  /// In backward: the i-th saved tensor; IndexError where there is none. Inputs and outputs have
  /// their history, so that derivatives of backward are right; others are constants.
  Tensor saved(std::size_t i) const;
  /// In backward: whether the gradient of input i is needed; in forward: whether it may be.
  /// IndexError where there is no input i.
  bool needs_input_grad(std::size_t i) const;

 private:
  friend class CustomCall;
  std::vector<Tensor> to_save_, dirty_, constant_;  // in forward
  bool grad_mode_ = false;                          // of the caller
  std::vector<Tensor> saved_;                       // in backward
  std::vector<bool> needed_;
};

/// A custom function without its types; use Function.
struct CustomFunction {
  using Tensors = std::vector<Tensor>;

  const char* name;  // of the node
  std::function<Tensors(FunctionContext&, const Tensors& inputs)> forward;
  std::function<Tensors(const FunctionContext&, const Tensors& grads)> backward;

  Tensors operator()(const Tensors& inputs) const;
};

/// While it lives, every call of a Function on this thread calls `hook` before it runs, for tools
/// that check derivatives. `again` calls the same function with other inputs, and a copy of the
/// object for each call. Within the hook nothing is hooked.
class FunctionHook {
 public:
  using Tensors = std::vector<Tensor>;
  using Call = std::function<Tensors(const Tensors& inputs)>;
  using Hook = std::function<void(const char* name, const Call& again, const Tensors& inputs)>;

  explicit FunctionHook(Hook hook)
      : hook_(std::move(hook)), outer_(std::exchange(current_, this)) {}
  ~FunctionHook() { current_ = outer_; }
  FunctionHook(const FunctionHook&) = delete;
  FunctionHook& operator=(const FunctionHook&) = delete;

  static bool is_on() noexcept { return current_ != nullptr; }
  static void call(const char* name, const Call& again, const Tensors& inputs);

 private:
  inline static constinit thread_local const FunctionHook* current_ = nullptr;

  Hook hook_;
  const FunctionHook* outer_;
};

/// The class name without namespaces, followed by "Backward". The string lives forever.
const char* function_name(const std::type_info& type);

/// Base of a custom function, which defines
///   forward(FunctionContext&, const Tensor&...)  -> Tensor or std::vector<Tensor>,
///   backward(const FunctionContext&, const Tensor& grad) -> Tensor or std::vector<Tensor>,
/// where backward returns one gradient for each input; an undefined one stands for zero. With
/// several outputs backward takes `const std::vector<Tensor>& grads`, zeros for outputs that were
/// not used. forward runs without a graph, and may be given undefined tensors. Its outputs are
/// tensors of their own, but for inputs that are marked as dirty: what shares elements with an
/// input or another tensor is copied. Integer outputs have no gradient. backward can be
/// differentiated itself when it uses public operations; there saved inputs and outputs have their
/// history, and other tensors that forward computed and saved are constants. Compute these anew
/// from the inputs for right second derivatives.
/// https://pytorch.org/docs/2.6/autograd.html#torch.autograd.Function
template <class Derived>
class Function {
 public:
  using Tensors = std::vector<Tensor>;

  /// The outputs of forward, with backward recorded.
  ///
  /// Throws:
  ///   AutogradError  - forward changes an input in place without marking it as dirty, or marks one
  ///                    that it does not return
  ///   AutogradError  - forward gives several outputs, and backward takes one gradient
  /// Backward throws:
  ///   AutogradError  - Function::backward gives another number of gradients than there are inputs
  ///   ShapeError     - one of the gradients does not fit its input
  ///
  /// Do not save, or have as another input, what shares elements with an input that is marked as
  /// dirty: give forward a clone.
  template <std::convertible_to<const Tensor&>... Inputs>
  auto apply(const Inputs&... inputs) const {
    static_assert(
        requires(const Derived& f, FunctionContext& context) { f.forward(context, inputs...); },
        "a Function's forward is const or static, and takes (FunctionContext&, const Tensor&...)");
    static_assert(
        requires(const Derived& f, const FunctionContext& context, const Tensors& grads) {
          f.backward(context, grads);
        } || requires(const Derived& f, const FunctionContext& context,
                      const Tensor& grad) { f.backward(context, grad); },
        "a Function's backward is const or static, and takes (const FunctionContext&, const "
        "Tensor&), or a vector of gradients");
    if (FunctionHook::is_on()) {
      const auto again = [self = static_cast<const Derived&>(*this)](const Tensors& x) {
        return static_cast<const Function&>(self).template one_call<Inputs...>()(x);
      };
      FunctionHook::call(function_name(typeid(Derived)), again, {inputs...});
    }
    Tensors outputs = one_call<Inputs...>()({inputs...});
    using Output = decltype(std::declval<const Derived&>().forward(std::declval<FunctionContext&>(),
                                                                   inputs...));
    if constexpr (std::same_as<Output, Tensor>) {
      return std::move(outputs[0]);
    } else {
      return outputs;
    }
  }

 private:
  // A copy of the object for each call, so that backward finds what forward left in mutable
  // members.
  template <class... Inputs>
  CustomFunction one_call() const {
    const auto self = std::make_shared<const Derived>(static_cast<const Derived&>(*this));
    const auto forward = [self](FunctionContext& context, const Tensors& x) {
      Tensors outputs = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return list(self->forward(context, x[I]...));
      }
      (std::index_sequence_for<Inputs...>());
      if constexpr (!requires { self->backward(context, x); }) {
        if (outputs.size() > 1) fail_outputs(function_name(typeid(Derived)), outputs.size());
      }
      return outputs;
    };
    const auto backward = [self](const FunctionContext& context, const Tensors& grads) {
      if constexpr (requires { self->backward(context, grads); }) {
        return list(self->backward(context, grads));
      } else {
        return list(self->backward(context, grads[0]));
      }
    };
    return {function_name(typeid(Derived)), forward, backward};
  }
  [[noreturn]] static void fail_outputs(const char* name, std::size_t count) {
    fail<AutogradError>(name, "forward gave ", count, " outputs, and backward takes one gradient");
  }
  static Tensors list(Tensor output) { return {std::move(output)}; }
  static Tensors list(Tensors outputs) { return outputs; }
};

}  // namespace tend::autograd
