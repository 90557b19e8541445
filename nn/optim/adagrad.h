// Adagrad: steps divided by the root of the sum of all squared gradients.
#pragma once

#include <type_traits>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

struct AdagradOptions {
  double lr = 1e-2;
  /// Step n has the rate lr / (1 + (n - 1) * lr_decay).
  double lr_decay = 0;
  /// Times the parameter is added to the gradient.
  double weight_decay = 0;
  /// What the sum of squares starts with.
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;
};

struct AdagradState {
  std::int64_t step = 0;
  Array sum;

  template <class F>
  void named(F&& f) {
    f("sum", sum, true);
  }
};

/// Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html, as torch.optim.Adagrad computes
/// it.
class Adagrad : public Optimizer<AdagradOptions, AdagradState> {
 public:
  using Options = AdagradOptions;

  /// Error for a setting outside of its range, and for an empty list of parameters.
  explicit Adagrad(const std::vector<Tensor>& parameters, const Options& options = {});
  /// Adagrad(parameters, 0.01): a learning rate, and the other settings as they are by default. A
  /// template, so that braces are options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      Adagrad(const std::vector<Tensor>& parameters, Rate lr)
      : Adagrad(parameters, Options{.lr = static_cast<double>(lr)}) {}
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
