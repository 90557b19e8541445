// SGD: gradient descent with momentum.
#pragma once

#include <tend/nn/optim/grouped_optimizer.h>

namespace tend::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  Flag nesterov = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  template <class F>
  void named(F&& f) {
    f("lr", lr);
    f("momentum", momentum);
    f("dampening", dampening);
    f("weight_decay", weight_decay);
    f("nesterov", nesterov);
    f("maximize", maximize);
  }
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
class SGD : public GroupedOptimizer<SGD, SGDOptions, SGDState> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "SGD";
  /// Error for a setting out of its range.
  static void check(const Options& options);

 private:
  void make_step() override;
};

extern template class GroupedOptimizer<SGD, SGDOptions, SGDState>;

}  // namespace tend::optim
