// Two groups of parameters: with and without weight decay.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::optim {

/// A model's parameters in two groups. decay_groups() makes it.
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

/// Two groups for an optimizer. Parameters for which decays(name, parameter) is true get the weight
/// decay; the others get a weight decay of 0.
///
///     optim::AdamW optimizer(optim::decay_groups(model, 0.1), {.lr = 1e-3});
DecayGroups decay_groups(
    const nn::ModuleBase& model, double weight_decay,
    const std::function<bool(const std::string& name, const Tensor& parameter)>& decays);
/// Tensors of two and more dimensions decay; biases and the gains of norms do not.
DecayGroups decay_groups(const nn::ModuleBase& model, double weight_decay);

}  // namespace tend::optim
