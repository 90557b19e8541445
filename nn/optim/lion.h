// Lion: steps of the same size for all elements, along the sign of a running mean.
#pragma once

#include <utility>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// The options of Lion.
struct LionOptions {
  double lr = 1e-4;
  /// The weights of the old running mean of gradients: in the direction, and in the new mean.
  std::pair<double, double> betas = {0.9, 0.99};
  /// Decoupled weight decay: each step subtracts lr * weight_decay * parameter.
  double weight_decay = 0;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("betas", &betas);
    f("weight_decay", &weight_decay);
  }
};

/// Lion: algorithm 2 of Chen et al. 2023, https://arxiv.org/abs/2302.06675. PyTorch does not have
/// it.
class Lion : public GroupedOptimizer<Lion, LionOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Lion";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override { return {{"exp_avg", true}}; }
  Update update(const ParameterStep& step, const Options& options) const override;
};

}  // namespace tend::optim
