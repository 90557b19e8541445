#include <tend/nn/optim/decay_groups.h>

#include <tend/core/base/error.h>

namespace tend::optim {

DecayGroups decay_groups(
    const nn::ModuleBase& model, double weight_decay,
    const std::function<bool(const std::string& name, const Tensor& parameter)>& decays) {
  if (!decays) fail("decay_groups", "the function decays is empty");
  DecayGroups groups(weight_decay);
  for (const auto& [name, parameter] : model.named_parameters())
    (decays(name, parameter) ? groups.decayed_ : groups.others_).push_back(parameter);
  return groups;
}

DecayGroups decay_groups(const nn::ModuleBase& model, double weight_decay) {
  return decay_groups(model, weight_decay, [](const std::string&, const Tensor& parameter) {
    return parameter.dim() >= 2;
  });
}

}  // namespace tend::optim
