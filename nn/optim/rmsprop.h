// RMSprop: steps divided by a running root mean square of gradients.
#pragma once

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// The options of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2;
  /// The weight of the old running mean of squares in each step.
  double alpha = 0.99;
  double eps = 1e-8;
  /// weight_decay * parameter is added to the gradient.
  double weight_decay = 0;
  double momentum = 0;
  /// Subtracts the square of the gradients' running mean from the mean of squares (Graves 2013).
  Flag centered = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("alpha", &alpha);
    f("eps", &eps);
    f("weight_decay", &weight_decay);
    f("momentum", &momentum);
    f("centered", &centered);
    f("maximize", &maximize);
  }
};

/// RMSprop as torch.optim.RMSprop computes it. Tieleman and Hinton 2012 (lecture 6e of Neural
/// Networks for Machine Learning).
class RMSprop : public GroupedOptimizer<RMSprop, RMSpropOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "RMSprop";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override {
    return {{"square_avg", true}, {"momentum_buffer", false}, {"grad_avg", false}};
  }
  Update update(const ParameterStep& step, const Options& options) const override;
};

}  // namespace tend::optim
