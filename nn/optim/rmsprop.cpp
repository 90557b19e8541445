#include <tend/nn/optim/rmsprop.h>

#include <tend/nn/optim/element_pass.h>

namespace tend::optim {

void RMSprop::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "alpha", o.alpha);
  detail::check_from_zero(kName, "eps", o.eps);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "momentum", o.momentum);
}

Update RMSprop::update(const ParameterStep& p, const Options& o) const {
  const kernels::RMSpropStep step = {.rate = -o.lr,
                                     .penalty = o.weight_decay,
                                     .alpha = o.alpha,
                                     .share = 1 - o.alpha,
                                     .momentum = o.momentum,
                                     .eps = o.eps,
                                     .maximize = o.maximize};
  const Array* const mean = o.centered ? &p.array("grad_avg") : nullptr;
  const Array* const velocity = o.momentum > 0 ? &p.array("momentum_buffer") : nullptr;
  return detail::element_pass<3>(
      p, {&p.array("square_avg"), mean, velocity},
      [step](const auto& kernels, auto* x, auto* g, auto& state, std::int64_t count) {
        kernels.rmsprop(x, g, state[0], state[1], state[2], count, step);
      });
}

}  // namespace tend::optim
