#include <tend/nn/optim/adam.h>

#include <cmath>

#include <tend/nn/optim/element_pass.h>

namespace tend::optim {
namespace {

AdamOptions as_adam(const AdamWOptions& o) {
  return {o.lr, o.betas, o.eps, o.weight_decay, o.amsgrad, o.maximize};
}

void check_adam(const char* name, const AdamOptions& o) {
  detail::check_from_zero(name, "lr", o.lr);
  detail::check_from_zero(name, "eps", o.eps);
  detail::check_from_zero(name, "weight_decay", o.weight_decay);
  detail::check_betas(name, o.betas);
}

// The weight decay is part of the gradient or, if it is `decoupled`, subtracted from the parameter.
Update adam_update(const ParameterStep& p, const AdamOptions& o, bool decoupled) {
  const auto number = static_cast<double>(p.state.step);
  const auto [beta1, beta2] = o.betas;
  const kernels::AdamStep step = {.decay = decoupled ? 1 - o.lr * o.weight_decay : 1,
                                  .penalty = decoupled ? 0 : o.weight_decay,
                                  .first_weight = 1 - beta1,
                                  .beta2 = beta2,
                                  .second_weight = 1 - beta2,
                                  .second_correction = std::sqrt(1 - std::pow(beta2, number)),
                                  .rate = -o.lr / (1 - std::pow(beta1, number)),
                                  .eps = o.eps,
                                  .maximize = o.maximize};
  const Array* const most = o.amsgrad ? &p.array("max_exp_avg_sq") : nullptr;
  return detail::element_pass<3>(
      p, {&p.array("exp_avg"), &p.array("exp_avg_sq"), most},
      [step](const auto& kernels, auto* x, auto* g, auto& state, std::int64_t count) {
        kernels.adam(x, g, state[0], state[1], state[2], count, step);
      });
}

}  // namespace

void Adam::check(const Options& options) {
  check_adam(kName, options);
}

Update Adam::update(const ParameterStep& step, const Options& options) const {
  return adam_update(step, options, false);
}

void AdamW::check(const Options& options) {
  check_adam(kName, as_adam(options));
}

Update AdamW::update(const ParameterStep& step, const Options& options) const {
  return adam_update(step, as_adam(options), true);
}

}  // namespace tend::optim
