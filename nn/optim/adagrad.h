// Adagrad: steps divided by the root of the sum of all squared gradients.
#pragma once

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// The options of Adagrad.
struct AdagradOptions {
  double lr = 1e-2;
  /// Step n has the rate lr / (1 + (n - 1) * lr_decay).
  double lr_decay = 0;
  /// weight_decay * parameter is added to the gradient.
  double weight_decay = 0;
  /// The first value of the sum of squares.
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("lr_decay", &lr_decay);
    f("weight_decay", &weight_decay);
    f("initial_accumulator_value", &initial_accumulator_value);
    f("eps", &eps);
    f("maximize", &maximize);
  }
};

/// Adagrad as torch.optim.Adagrad computes it. Duchi et al. 2011,
/// https://jmlr.org/papers/v12/duchi11a.html.
class Adagrad : public GroupedOptimizer<Adagrad, AdagradOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Adagrad";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override { return {{"sum", true}}; }
  Update update(const ParameterStep& step, const Options& options) const override;
};

}  // namespace tend::optim
