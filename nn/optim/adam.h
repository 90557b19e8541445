// Adam: steps by running means of gradients and of their squares.
#pragma once

#include <type_traits>
#include <utility>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

struct AdamOptions {
  double lr = 1e-3;
  /// How much of the running means of gradients and of their squares stays in a step.
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  /// Times the parameter is added to the gradient.
  double weight_decay = 0;
  /// Divides by the largest second moment so far (Reddi et al. 2018).
  Flag amsgrad = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;
};

struct AdamState {
  std::int64_t step = 0;
  Array exp_avg;
  Array exp_avg_sq;
  Array max_exp_avg_sq;

  template <class F>
  void named(F&& f) {
    f("exp_avg", exp_avg, true);
    f("exp_avg_sq", exp_avg_sq, true);
    f("max_exp_avg_sq", max_exp_avg_sq, false);
  }
};

/// Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, as torch.optim.Adam computes it.
class Adam : public Optimizer<AdamOptions, AdamState> {
 public:
  using Options = AdamOptions;

  /// Error for a setting outside of its range, and for an empty list of parameters.
  explicit Adam(const std::vector<Tensor>& parameters, const Options& options = {});
  /// Adam(parameters, 1e-3): a learning rate, and the other settings as they are by default. A
  /// template, so that braces are options.
  template <class Rate>
  requires(std::is_arithmetic_v<Rate> && !std::is_same_v<Rate, bool>)
      Adam(const std::vector<Tensor>& parameters, Rate lr)
      : Adam(parameters, Options{.lr = static_cast<double>(lr)}) {}
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

namespace detail {
/// What Adam and AdamW share. Error for a setting outside of its range.
void check_adam(const char* name, const AdamOptions& options);
/// Makes the moments that a parameter with these values does not have yet.
void prepare_adam(AdamState& state, const Array& values, bool amsgrad);
/// Steps the elements from `begin` to `end`. The weight decay is part of the gradient or, when it
/// is `decoupled`, taken off the parameter.
void update_adam(const Array& values, const Array& gradient, const AdamState& state,
                 const AdamOptions& options, bool decoupled, std::int64_t begin, std::int64_t end);
}  // namespace detail

}  // namespace tend::optim
