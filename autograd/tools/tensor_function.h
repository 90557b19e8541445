// Functions as arguments, for gradcheck, checkpoint, jacobian and others.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// A function from tensors to tensors.
///
/// It is made from any callable that accepts one, two or three tensors, or a vector of them, and
/// returns a tensor or a vector of them. It copies the callable. The copy of a module shares the
/// module's tensors, while a lambda with a reference to a module calls the module itself.
class TensorFunction {
 public:
  using Tensors = std::vector<Tensor>;

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, TensorFunction>) TensorFunction(F f)
      : call_([f = std::move(f)](const char* operation, const Tensors& x) mutable -> Tensors {
          using T = const Tensor&;
          if (is_empty_function(f)) fail(operation, "the function is empty");
          if constexpr (std::is_invocable_v<F&, T>) {
            expect(operation, x, 1);
            return list(f(x[0]));
          } else if constexpr (std::is_invocable_v<F&, T, T>) {
            expect(operation, x, 2);
            return list(f(x[0], x[1]));
          } else if constexpr (std::is_invocable_v<F&, T, T, T>) {
            expect(operation, x, 3);
            return list(f(x[0], x[1], x[2]));
          } else {
            return list(f(x));
          }
        }) {}

  /// Calls the function.
  ///
  /// Throws:
  ///   Error      - the function is empty
  ///   ShapeError - the function accepts another number of tensors
  Tensors operator()(const Tensors& inputs) const { return call("TensorFunction", inputs); }
  /// Calls the function. Errors name `operation`.
  Tensors call(const char* operation, const Tensors& inputs) const {
    return call_(operation, inputs);
  }

 private:
  static Tensors list(Tensor output) { return {std::move(output)}; }
  static Tensors list(Tensors outputs) { return outputs; }
  static void expect(const char* operation, const Tensors& inputs, std::size_t count) {
    if (inputs.size() == count) return;
    fail<ShapeError>(operation, "the function takes ", count, " tensors, got ", inputs.size());
  }

  std::function<Tensors(const char*, const Tensors&)> call_;
};

}  // namespace tend
