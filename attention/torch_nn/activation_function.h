// ActivationFunction: the function between the two Linear layers of a Transformer layer.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn {

/// An activation: "relu" or "gelu", as in PyTorch, or any function of a tensor.
class ActivationFunction {
 public:
  /// Throws: Error - there is no activation of this name
  ActivationFunction(const char* name) : ActivationFunction(std::string_view(name)) {}
  ActivationFunction(std::string_view name);
  ActivationFunction(std::nullptr_t) = delete;
  template <class F>
  requires std::is_invocable_r_v<Tensor, const F&, const Tensor&> ActivationFunction(F function)
      : function_(std::function<Tensor(const Tensor&)>(std::move(function))) {}

  /// Throws: Error - the function is empty
  Tensor operator()(const Tensor& x) const;

 private:
  std::function<Tensor(const Tensor&)> function_;
};

}  // namespace tend::nn
