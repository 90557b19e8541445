#include "world.h"

#include <algorithm>

using namespace tend;

namespace fuzz {

TensorState state_of(const Tensor& tensor) {
  TensorState state;
  if (!tensor.defined()) return state;
  const Digest elements = digest_of(tensor), gradient = digest_of(tensor.grad());
  state.kind = as_text(elements.dtype, ' ', elements.shape, tensor.requires_grad() ? " grad" : "",
                       tensor.is_leaf() ? " leaf" : "");
  state.sum = elements.sum;
  state.magnitude = elements.magnitude;
  if (gradient.dtype == "none") return state;
  state.grad_kind = as_text(gradient.dtype, ' ', gradient.shape);
  // PyTorch adds to a retained gradient out of place, which may end its history.
  if (tensor.is_leaf() && tensor.grad().requires_grad()) state.grad_kind += " grad";
  state.grad_sum = gradient.sum;
  state.grad_magnitude = gradient.magnitude;
  return state;
}

void Names::bind(const std::string& name, const Tensor& tensor, Role role) {
  tensors.push_back({name, tensor, role});
}

void Names::erase(const std::string& name) {
  std::erase_if(tensors, [&](const Named& each) { return each.name == name; });
}

Tensor Names::find(const std::string& name) const {
  return std::find_if(tensors.begin(), tensors.end(),
                      [&](const Named& each) { return each.name == name; })
      ->tensor;
}

}  // namespace fuzz
