// Adam: steps by running means of gradients and of their squares.
#pragma once

#include <utility>

#include <tend/nn/optim/grouped_optimizer.h>

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

  template <class F>
  void named(F&& f) {
    f("lr", lr);
    f("betas", betas);
    f("eps", eps);
    f("weight_decay", weight_decay);
    f("amsgrad", amsgrad);
    f("maximize", maximize);
  }
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
class Adam : public GroupedOptimizer<Adam, AdamOptions, AdamState> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "Adam";
  /// Error for a setting out of its range.
  static void check(const Options& options);

 private:
  void make_step() override;
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

extern template class GroupedOptimizer<Adam, AdamOptions, AdamState>;

}  // namespace tend::optim
