// Lion: steps of one size along the sign of a running mean.
#pragma once

#include <utility>

#include <tend/nn/optim/grouped_optimizer.h>

namespace tend::optim {

struct LionOptions {
  double lr = 1e-4;
  /// How much of the running mean of gradients stays in the direction, and in the mean itself.
  std::pair<double, double> betas = {0.9, 0.99};
  /// Times lr times the parameter is taken off it.
  double weight_decay = 0;

  template <class F>
  void named(F&& f) {
    f("lr", lr);
    f("betas", betas);
    f("weight_decay", weight_decay);
  }
};

struct LionState {
  std::int64_t step = 0;
  Array exp_avg;

  template <class F>
  void named(F&& f) {
    f("exp_avg", exp_avg, true);
  }
};

/// Algorithm 2 of Chen et al. 2023, https://arxiv.org/abs/2302.06675; PyTorch has none.
class Lion : public GroupedOptimizer<Lion, LionOptions, LionState> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Lion";
  /// Error for a setting out of its range.
  static void check(const Options& options);

 private:
  void make_step() override;
};

extern template class GroupedOptimizer<Lion, LionOptions, LionState>;

}  // namespace tend::optim
