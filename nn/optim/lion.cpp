#include <tend/nn/optim/lion.h>

#include <tend/nn/optim/element_pass.h>

namespace tend::optim {

void Lion::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_betas(kName, o.betas);
}

Update Lion::update(const ParameterStep& p, const Options& o) const {
  const kernels::LionStep step = {.rate = -o.lr,
                                  .decay = 1 - o.lr * o.weight_decay,
                                  .beta1 = o.betas.first,
                                  .first_weight = 1 - o.betas.first,
                                  .beta2 = o.betas.second,
                                  .second_weight = 1 - o.betas.second};
  return detail::element_pass<1>(
      p, {&p.array("exp_avg")},
      [step](const auto& kernels, auto* x, auto* g, auto& state, std::int64_t count) {
        kernels.lion(x, g, state[0], count, step);
      });
}

}  // namespace tend::optim
