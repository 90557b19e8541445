// Parameters that decay, and those that do not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::optim {

/// A model's parameters in two groups; decay_groups() makes it.
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

/// What an optimizer without weight decay has in the place of DecayGroups. None can be made.
struct NoGroups {
  NoGroups(const NoGroups&) = delete;
};

/// Two groups for an optimizer: the parameters for which decays(name, parameter) is true get that
/// weight decay, the others none.
///
///     optim::AdamW optimizer(optim::decay_groups(model, 0.1), {.lr = 1e-3});
DecayGroups decay_groups(
    const nn::ModuleBase& model, double weight_decay,
    const std::function<bool(const std::string& name, const Tensor& parameter)>& decays);
/// Matrices decay, and tensors of more dimensions; biases and the gains of norms do not.
DecayGroups decay_groups(const nn::ModuleBase& model, double weight_decay);

}  // namespace tend::optim
