// RMSprop: steps divided by a running root mean square of gradients.
#pragma once

#include <type_traits>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  /// How much of the running mean of squares stays in a step.
  double alpha = 0.99;
  double eps = 1e-8;
  /// Times the parameter is added to the gradient.
  double weight_decay = 0;
  double momentum = 0;
  /// Takes the square of the gradients' running mean off the mean of squares (Graves 2013).
  Flag centered = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;
};

struct RMSpropState {
  std::int64_t step = 0;
  Array square_avg;
  Array momentum_buffer;
  Array grad_avg;

  template <class F>
  void named(F&& f) {
    f("square_avg", square_avg, true);
    f("momentum_buffer", momentum_buffer, false);
    f("grad_avg", grad_avg, false);
  }
};

/// Tieleman and Hinton 2012 (lecture 6e of Neural Networks for Machine Learning), as
/// torch.optim.RMSprop computes it.
class RMSprop : public Optimizer<RMSpropOptions, RMSpropState> {
 public:
  using Options = RMSpropOptions;

  /// Error for a setting outside of its range, and for an empty list of parameters.
  explicit RMSprop(const std::vector<Tensor>& parameters, const Options& options = {});
  /// RMSprop(parameters, 0.01): a learning rate, and the other settings as they are by default. A
  /// template, so that braces are options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      RMSprop(const std::vector<Tensor>& parameters, Rate lr)
      : RMSprop(parameters, Options{.lr = static_cast<double>(lr)}) {}
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
