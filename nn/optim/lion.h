// Lion: steps of one size along the sign of a running mean.
#pragma once

#include <type_traits>
#include <utility>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

struct LionOptions {
  double lr = 1e-4;
  /// How much of the running mean of gradients stays in the direction, and in the mean itself.
  std::pair<double, double> betas = {0.9, 0.99};
  /// Times lr times the parameter is taken off it.
  double weight_decay = 0;
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
class Lion : public Optimizer<LionOptions, LionState> {
 public:
  using Options = LionOptions;

  /// Error for a setting outside of its range, and for an empty list of parameters.
  explicit Lion(const std::vector<Tensor>& parameters, const Options& options = {});
  /// Lion(parameters, 1e-4): a learning rate, and the other settings as they are by default. A
  /// template, so that braces are options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      Lion(const std::vector<Tensor>& parameters, Rate lr)
      : Lion(parameters, Options{.lr = static_cast<double>(lr)}) {}
  /// One step along the gradients that the parameters hold.
  void step();
  /// Calls closure(), which clears the gradients, computes the loss, goes backward from it and
  /// returns it; then makes a step. Returns the loss. When the closure throws, no step is made.
  template <class Closure>
  requires std::is_invocable_r_v<Tensor, Closure&> Tensor step(Closure&& closure) {
    Tensor loss = call_closure(closure);
    step();
    return loss;
  }
};

}  // namespace tend::optim
