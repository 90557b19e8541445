// AdamW: Adam with decoupled weight decay.
#pragma once

#include <utility>

#include <tend/nn/optim/adam.h>

namespace tend::optim {

struct AdamWOptions {
  double lr = 1e-3;
  /// How much of the running means of gradients and of their squares stays in a step.
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  /// Times lr times the parameter is taken off it.
  double weight_decay = 1e-2;
  /// Divides by the largest second moment so far (Reddi et al. 2018).
  Flag amsgrad = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  template <class F>
  void named(F&& f) {
    f("lr", lr);
    f("betas", betas);
    f("eps", eps);
    f("weight_decay", weight_decay);
    f("amsgrad", amsgrad);
    f("maximize", maximize);
  }
};

/// Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101, as torch.optim.AdamW computes it.
class AdamW : public GroupedOptimizer<AdamW, AdamWOptions, AdamState> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "AdamW";
  /// Error for a setting out of its range.
  static void check(const Options& options);

 private:
  void make_step() override;
};

extern template class GroupedOptimizer<AdamW, AdamWOptions, AdamState>;

}  // namespace tend::optim
