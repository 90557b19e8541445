// Adam and AdamW: steps that are computed from running means of gradients and of their squares.
#pragma once

#include <utility>

#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

/// The options of Adam and AdamW, which differ in their weight decay.
template <bool is_decoupled>
struct AdamFamilyOptions {
  double lr = 1e-3;
  /// In each step, the first beta weights the old running mean of gradients, and the second one the
  /// old running mean of their squares.
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  /// Adam adds weight_decay * parameter to the gradient. AdamW's decay is decoupled: each step
  /// subtracts lr * weight_decay * parameter.
  double weight_decay = is_decoupled ? 1e-2 : 0;
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

/// Adam and AdamW.
template <bool is_decoupled>
class AdamFamily
    : public GroupedOptimizer<AdamFamily<is_decoupled>, AdamFamilyOptions<is_decoupled>> {
 public:
  using Options = AdamFamilyOptions<is_decoupled>;
  using AdamFamily::GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = is_decoupled ? "AdamW" : "Adam";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);

 private:
  std::vector<StateName> state_names() const override {
    return {{"exp_avg", true}, {"exp_avg_sq", true}, {"max_exp_avg_sq", false}};
  }
  Update update(const ParameterStep& step, const Options& options) const override;
};

extern template class AdamFamily<false>;
extern template class AdamFamily<true>;

using AdamOptions = AdamFamilyOptions<false>;
using AdamWOptions = AdamFamilyOptions<true>;

/// Adam as torch.optim.Adam computes it. Kingma and Ba 2015, https://arxiv.org/abs/1412.6980.
using Adam = AdamFamily<false>;

/// Adam with decoupled weight decay, as torch.optim.AdamW computes it. Loshchilov and Hutter 2019,
/// https://arxiv.org/abs/1711.05101.
using AdamW = AdamFamily<true>;

}  // namespace tend::optim
