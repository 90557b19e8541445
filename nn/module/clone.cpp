// Deep copies of modules.
#include <unordered_map>

#include <tend/nn/module/module.h>

namespace tend::nn {
namespace {

Tensor copy_of(const std::string& name, const Tensor& tensor) {
  if (!tensor.is_leaf()) fail<AutogradError>("clone", name, " has history; detach it");
  Tensor copy(tensor.array().clone());
  copy.requires_grad_(tensor.requires_grad());
  copy.impl()->is_parameter = tensor.impl()->is_parameter;
  return copy;
}

}  // namespace

void ModuleBase::own_tensors() {
  std::unordered_map<const TensorImpl*, Tensor> copies;
  const auto tree = named_modules();
  for (const PathTensor& each : path_tensors()) {
    Tensor& copy = copies[each.tensor.impl().get()];
    if (!copy.defined()) copy = copy_of(each.path, each.tensor);
  }
  const auto replace = [&](Tensor& tensor) {
    if (!tensor.defined()) return;
    const auto copy = copies.find(tensor.impl().get());
    if (copy != copies.end()) tensor = copy->second;
  };
  for (const auto& [path, module] : tree) {
    module->each_tensor([&](const OwnTensor& own) { replace(own.tensor); });
    // Other handles on the same parameters.
    for (const LiveObject* each : live_within(module->own_bytes())) {
      if (each->live_kind() == LiveKind::parameter)
        replace(const_cast<Parameter&>(static_cast<const Parameter&>(*each)));
    }
    if (!module->hooks_) continue;
    module->hooks_ = std::make_shared<ModuleHooks>(*module->hooks_);
    module->hooks_->separate();
  }
}

}  // namespace tend::nn
