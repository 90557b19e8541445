// Adam and AdamW: steps by running means of gradients and of their squares.
#pragma once

#include <utility>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

struct AdamOptions {
  double lr = 1e-3;
  /// How much of the running means of gradients and of their squares stays in a step.
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  /// The gradient gets weight_decay * parameter added to it.
  double weight_decay = 0;
  /// Divides by the largest second moment so far (Reddi et al. 2018).
  Flag amsgrad = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("betas", &betas);
    f("eps", &eps);
    f("weight_decay", &weight_decay);
    f("amsgrad", &amsgrad);
    f("maximize", &maximize);
  }
};

/// Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, as torch.optim.Adam computes it.
class Adam : public GroupedOptimizer<Adam, AdamOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Adam";
  /// Error for an option out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override {
    return {{"exp_avg", true}, {"exp_avg_sq", true}, {"max_exp_avg_sq", false}};
  }
  Update update(const ParameterStep& step, const Options& options) const override;
};

struct AdamWOptions {
  double lr = 1e-3;
  /// How much of the running means of gradients and of their squares stays in a step.
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  /// Decoupled weight decay: each step subtracts lr * weight_decay * parameter.
  double weight_decay = 1e-2;
  /// Divides by the largest second moment so far (Reddi et al. 2018).
  Flag amsgrad = false;
  /// Steps along the gradient instead of against it.
  Flag maximize = false;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("betas", &betas);
    f("eps", &eps);
    f("weight_decay", &weight_decay);
    f("amsgrad", &amsgrad);
    f("maximize", &maximize);
  }
};

/// Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101, as torch.optim.AdamW computes it.
class AdamW : public GroupedOptimizer<AdamW, AdamWOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "AdamW";
  /// Error for an option out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override {
    return {{"exp_avg", true}, {"exp_avg_sq", true}, {"max_exp_avg_sq", false}};
  }
  Update update(const ParameterStep& step, const Options& options) const override;
};

}  // namespace tend::optim
