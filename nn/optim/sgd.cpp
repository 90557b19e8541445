#include <tend/nn/optim/sgd.h>

#include <tend/nn/optim/element_pass.h>

namespace tend::optim {

void SGD::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "momentum", o.momentum);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0))
    fail(kName, "nesterov needs momentum, and no dampening");
}

Update SGD::update(const ParameterStep& p, const Options& o) const {
  const kernels::SGDStep step = {.rate = -o.lr,
                                 .decay = o.weight_decay,
                                 .momentum = o.momentum,
                                 .share = 1 - o.dampening,
                                 .nesterov = o.nesterov,
                                 .maximize = o.maximize,
                                 .first = !p.state.arrays.contains("momentum_buffer")};
  const Array* const velocity = o.momentum > 0 ? &p.array("momentum_buffer") : nullptr;
  return detail::element_pass<1>(
      p, {velocity},
      [step](const auto& kernels, auto* x, auto* g, auto& state, std::int64_t count) {
        kernels.sgd(x, g, state[0], count, step);
      });
}

}  // namespace tend::optim
