#include <tend/nn/optim/sgd.h>

#include <tend/core/kernels/elementwise/optimizer.h>

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
  return visit_floating(kName, p.values.dtype(), [&](auto tag) -> Update {
    using T = typename decltype(tag)::type;
    T* const x = p.values.data<T>();
    const T* const g = p.gradient.data<T>();
    T* const velocity = o.momentum > 0 ? p.array("momentum_buffer").data<T>() : nullptr;
    return [=](std::int64_t begin, std::int64_t end) {
      kernels::optimizer_kernels().of<T>().sgd(
          x + begin, g + begin, velocity ? velocity + begin : nullptr, end - begin, step);
    };
  });
}

}  // namespace tend::optim
