#include <tend/nn/optim/adam.h>

#include <cmath>

#include <tend/nn/optim/element_pass.h>

namespace tend::optim {

template <bool is_decoupled>
void AdamFamily<is_decoupled>::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "eps", o.eps);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_betas(kName, o.betas);
}

template <bool is_decoupled>
Update AdamFamily<is_decoupled>::update(const ParameterStep& p, const Options& o) const {
  const auto number = static_cast<double>(p.state.step);
  const auto [beta1, beta2] = o.betas;
  const kernels::AdamStep step = {.decay = is_decoupled ? 1 - o.lr * o.weight_decay : 1,
                                  .penalty = is_decoupled ? 0 : o.weight_decay,
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

template class AdamFamily<false>;
template class AdamFamily<true>;

}  // namespace tend::optim
