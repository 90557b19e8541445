#include <tend/nn/optim/adagrad.h>

#include <tend/nn/optim/element_pass.h>

namespace tend::optim {

void Adagrad::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "lr_decay", o.lr_decay);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "initial_accumulator_value", o.initial_accumulator_value);
  detail::check_from_zero(kName, "eps", o.eps);
}

Update Adagrad::update(const ParameterStep& p, const Options& o) const {
  // Uses RMSprop's kernel, with a sum instead of the running mean.
  const auto earlier_steps = static_cast<double>(p.state.step - 1);
  const kernels::RMSpropStep step = {.rate = -o.lr / (1 + earlier_steps * o.lr_decay),
                                     .penalty = o.weight_decay,
                                     .alpha = 1,
                                     .share = 1,
                                     .momentum = 0,
                                     .eps = o.eps,
                                     .maximize = o.maximize};
  return detail::element_pass<1>(
      p, {&p.array("sum", o.initial_accumulator_value)},
      [step](const auto& kernels, auto* x, auto* g, auto& state, std::int64_t count) {
        kernels.rmsprop(x, g, state[0], nullptr, nullptr, count, step);
      });
}

}  // namespace tend::optim
