// RMSprop: steps divided by a running root mean square of gradients.
#pragma once

#include <tend/nn/optim/grouped_optimizer.h>

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

  template <class F>
  void named(F&& f) {
    f("lr", lr);
    f("alpha", alpha);
    f("eps", eps);
    f("weight_decay", weight_decay);
    f("momentum", momentum);
    f("centered", centered);
    f("maximize", maximize);
  }
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
class RMSprop : public GroupedOptimizer<RMSprop, RMSpropOptions, RMSpropState> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "RMSprop";
  /// Error for a setting out of its range.
  static void check(const Options& options);

 private:
  void make_step() override;
};

extern template class GroupedOptimizer<RMSprop, RMSpropOptions, RMSpropState>;

}  // namespace tend::optim
