// Adagrad: steps divided by the root of the sum of all squared gradients.
#pragma once

#include <tend/nn/optim/grouped_optimizer.h>

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

  template <class F>
  void named(F&& f) {
    f("lr", lr);
    f("lr_decay", lr_decay);
    f("weight_decay", weight_decay);
    f("initial_accumulator_value", initial_accumulator_value);
    f("eps", eps);
    f("maximize", maximize);
  }
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
class Adagrad : public GroupedOptimizer<Adagrad, AdagradOptions, AdagradState> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Adagrad";
  /// Error for a setting out of its range.
  static void check(const Options& options);

 private:
  void make_step() override;
};

extern template class GroupedOptimizer<Adagrad, AdagradOptions, AdagradState>;

}  // namespace tend::optim
