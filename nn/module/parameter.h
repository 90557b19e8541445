// Parameter: a tensor that a module owns and an optimizer updates.
#pragma once

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/module/live_object.h>

namespace tend::nn {

/// A leaf tensor that requires grad by default. It shares the elements of `value`, and its printed
/// form begins with "Parameter containing:".
class Parameter : public Tensor, public LiveObject {
 public:
  Parameter() : LiveObject(LiveKind::parameter) {}
  explicit Parameter(const Tensor& value, Flag requires_grad = true)
      : Tensor(value.array()), LiveObject(LiveKind::parameter) {
    requires_grad_(requires_grad);
    impl()->is_parameter = true;
  }
};

}  // namespace tend::nn
