// SGD: gradient descent with momentum.
#pragma once

#include <type_traits>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  Flag nesterov = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;
};

struct SGDState {
  std::int64_t step = 0;
  Array momentum_buffer;
  bool first = false;  // in this step the buffer gets its first value

  template <class F>
  void named(F&& f) {
    f("momentum_buffer", momentum_buffer, false);
  }
};

/// As torch.optim.SGD; Nesterov's momentum after Sutskever et al. 2013.
class SGD : public Optimizer<SGDOptions, SGDState> {
 public:
  using Options = SGDOptions;

  /// Error for a negative setting, for nesterov without momentum or with dampening, and for an
  /// empty list of parameters.
  explicit SGD(const std::vector<Tensor>& parameters, const Options& options = {});
  /// SGD(parameters, 0.1): a learning rate, and the other settings as they are by default. A
  /// template, so that braces are options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      SGD(const std::vector<Tensor>& parameters, Rate lr)
      : SGD(parameters, Options{.lr = static_cast<double>(lr)}) {}
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
