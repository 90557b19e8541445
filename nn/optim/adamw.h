// AdamW: Adam with decoupled weight decay.
#pragma once

#include <type_traits>
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
};

/// Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101, as torch.optim.AdamW computes it.
class AdamW : public Optimizer<AdamWOptions, AdamState> {
 public:
  using Options = AdamWOptions;

  /// Error for a setting outside of its range, and for an empty list of parameters.
  explicit AdamW(const std::vector<Tensor>& parameters, const Options& options = {});
  /// AdamW(parameters, 1e-3): a learning rate, and the other settings as they are by default. A
  /// template, so that braces are options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      AdamW(const std::vector<Tensor>& parameters, Rate lr)
      : AdamW(parameters, Options{.lr = static_cast<double>(lr)}) {}
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
