// SGD: gradient descent with momentum.
#pragma once

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// The options of SGD.
struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  Flag nesterov = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("momentum", &momentum);
    f("dampening", &dampening);
    f("weight_decay", &weight_decay);
    f("nesterov", &nesterov);
    f("maximize", &maximize);
  }
};

/// Stochastic gradient descent as in torch.optim.SGD. Nesterov's momentum follows Sutskever et al.
/// 2013.
class SGD : public GroupedOptimizer<SGD, SGDOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "SGD";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override { return {{"momentum_buffer", false}}; }
  Update update(const ParameterStep& step, const Options& options) const override;
};

}  // namespace tend::optim
