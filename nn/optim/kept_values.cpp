#include <tend/nn/optim/kept_values.h>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::optim::detail {

KeptValues::KeptValues(const char* operation, const std::vector<Tensor>& tensors)
    : operation_(operation) {
  const NoGradGuard no_grad;
  for (const Tensor& tensor : tensors) {
    check_writable(operation, tensor);
    values_.emplace_back(tensor, tensor.array().clone());
  }
}

void KeptValues::restore() const noexcept {
  for (const auto& [tensor, values] : values_) {
    const Array& elements = tensor.array();
    if (elements.shape() != values.shape() || elements.may_self_overlap()) continue;
    elements.copy_from(values);
    elements.storage()->bump_version(operation_);
  }
}

}  // namespace tend::optim::detail
