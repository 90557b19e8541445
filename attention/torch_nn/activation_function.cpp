#include <tend/attention/torch_nn/activation_function.h>

#include <tend/autograd/ops/activation.h>

namespace tend::nn {

ActivationFunction::ActivationFunction(std::string_view name) {
  if (name == "relu") {
    function_ = [](const Tensor& x) { return relu(x); };
  } else if (name == "gelu") {
    function_ = [](const Tensor& x) { return gelu(x); };
  } else {
    fail("ActivationFunction", '"', name, R"(" is neither "relu" nor "gelu")");
  }
}

Tensor ActivationFunction::operator()(const Tensor& x) const {
  if (!function_) fail("ActivationFunction", "the function is empty");
  return function_(x);
}

}  // namespace tend::nn
