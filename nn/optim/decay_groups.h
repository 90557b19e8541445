// Divides a model's parameters into a group with weight decay and one without.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::optim {

/// The result of decay_groups(): a model's parameters in two groups.
class DecayGroups {
 public:
  const std::vector<Tensor>& decayed() const noexcept { return decayed_; }
  const std::vector<Tensor>& others() const noexcept { return others_; }
  double weight_decay() const noexcept { return weight_decay_; }

 private:
  friend DecayGroups decay_groups(
      const nn::ModuleBase& model, double weight_decay,
      const std::function<bool(const std::string& name, const Tensor& parameter)>& decays);
  explicit DecayGroups(double weight_decay) : weight_decay_(weight_decay) {}

  std::vector<Tensor> decayed_, others_;
  double weight_decay_;
};

/// Divides a model's parameters into two groups for an optimizer. Parameters for which
/// decays(name, parameter) is true get the weight decay. The others get a weight decay of 0.
///
///     optim::AdamW optimizer(optim::decay_groups(model, 0.1), {.lr = 1e-3});
DecayGroups decay_groups(
    const nn::ModuleBase& model, double weight_decay,
    const std::function<bool(const std::string& name, const Tensor& parameter)>& decays);
/// Divides a model's parameters into tensors of two or more dimensions, which get the weight decay,
/// and all others. Biases and the gains of norms then have no weight decay.
DecayGroups decay_groups(const nn::ModuleBase& model, double weight_decay);

}  // namespace tend::optim
