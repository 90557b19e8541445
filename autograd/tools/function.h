// Custom operations, with a custom backward.
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
// Other data that backward needs can be members of the struct. forward and backward are then const
// member functions, and the graph owns a copy of the object for each call. Data that forward
// computes for backward go into a mutable member, unless they are tensors. Use save_for_backward
// for tensors: a tensor in a member could be changed before backward, or keep its own graph alive.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::autograd {

/// The argument through which forward and backward of a custom function share tensors.
class FunctionContext {
 public:
  /// In forward: saves inputs, outputs or other tensors for backward.
  ///
  /// If a saved tensor is changed in place before backward, the backward throws AutogradError.
  void save_for_backward(std::vector<Tensor> tensors) noexcept { to_save_ = std::move(tensors); }
  /// In forward: declares that forward changes these inputs in place. Call it before the first
  /// write.
  ///
  /// forward must return these inputs. They get the history of this call, as with mul_.
  ///
  /// Throws:
  ///   AutogradError - an input is a leaf that requires grad, or a view of one
  ///   ShapeError    - two indices of an input share an element
  void mark_dirty(std::vector<Tensor> inputs);
  /// In forward: declares that these outputs have no gradient. backward gets zeros for them.
  void mark_non_differentiable(std::vector<Tensor> outputs) noexcept {
    constant_ = std::move(outputs);
  }

  /// In backward: returns the i-th saved tensor.
  ///
  /// Inputs and outputs have their history, so that derivatives of backward are right. Other
  /// tensors are constants.
  ///
  /// Throws: IndexError - there is no i-th saved tensor
  Tensor saved(std::size_t i) const;
  /// True if the gradient of input i is needed (in backward), or may be needed (in forward).
  ///
  /// Throws: IndexError - there is no input i
  bool needs_input_grad(std::size_t i) const;

 private:
  friend class CustomCall;
  std::vector<Tensor> to_save_, dirty_, constant_;  // in forward
  bool grad_mode_ = false;                          // the caller's grad mode
  std::vector<Tensor> saved_;                       // in backward
  std::vector<bool> needed_;
};

/// A custom function without its types. Users use Function.
struct CustomFunction {
  using Tensors = std::vector<Tensor>;

  const char* name;  // the name of the node
  std::function<Tensors(FunctionContext&, const Tensors& inputs)> forward;
  std::function<Tensors(const FunctionContext&, const Tensors& grads)> backward;

  Tensors operator()(const Tensors& inputs) const;
};

/// A hook for every call of a Function on this thread while the FunctionHook exists. Tools that
/// check derivatives use it.
///
/// The hook runs before the function. `again` calls the same function with other inputs, and uses a
/// copy of the object for each call. Calls of a Function in the hook do not call hooks.
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

/// Returns the class name without namespaces, followed by "Backward". The string lives forever.
const char* function_name(const std::type_info& type);

/// The base of a custom function, which defines forward and backward.
///
///   forward(FunctionContext&, const Tensor&...)  -> Tensor or std::vector<Tensor>,
///   backward(const FunctionContext&, const Tensor& grad) -> Tensor or std::vector<Tensor>
///
/// backward returns one gradient for each input; an undefined gradient means zero. With several
/// outputs, backward accepts `const std::vector<Tensor>& grads`, with zeros for unused outputs.
///
/// forward runs without a graph, and may receive undefined tensors. Its outputs own their elements,
/// except inputs that are marked as dirty: an output that shares elements with an input or another
/// tensor is copied. Integer outputs have no gradient.
///
/// backward can be differentiated if it uses public operations. Saved inputs and outputs then have
/// their history, but other tensors that forward computed and saved are constants. For right second
/// derivatives, compute these again from the inputs.
///
/// https://pytorch.org/docs/2.6/autograd.html#torch.autograd.Function
template <class Derived>
class Function {
 public:
  using Tensors = std::vector<Tensor>;

  /// Calls forward and records backward.
  ///
  /// If forward marks an input as dirty, another tensor that shares elements with this input must
  /// not be saved, and must not be passed as another input. Pass a clone instead.
  ///
  /// A later backward throws an AutogradError if Function::backward returns another number of
  /// gradients than there are inputs, and a ShapeError if a gradient does not fit its input.
  ///
  /// Throws:
  ///   AutogradError - forward changes an input in place without marking it as dirty, or marks an
  ///                   input that it does not return
  ///   AutogradError - forward returns several outputs, but backward accepts only one gradient
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
  // Makes a copy of the object for each call, so that backward can read mutable members that
  // forward wrote.
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
    fail<AutogradError>(name, "forward returned ", count,
                        " outputs, so backward must accept a vector of gradients");
  }
  static Tensors list(Tensor output) { return {std::move(output)}; }
  static Tensors list(Tensors outputs) { return outputs; }
};

}  // namespace tend::autograd
