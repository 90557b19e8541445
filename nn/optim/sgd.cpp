#include <tend/nn/optim/sgd.h>

#include <tend/core/kernels/elementwise/optimizer.h>
#include <tend/nn/optim/grouped_optimizer_members.h>

namespace tend::optim {

void SGD::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "momentum", o.momentum);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0)) {
    fail(kName, "nesterov needs momentum, and no dampening");
  }
}

void SGD::make_step() {
  const auto prepare = [](Stepped& each) {
    Array& velocity = each.state.momentum_buffer;
    each.state.first = !velocity.defined();
    if (each.options->momentum > 0 && !velocity.defined())
      velocity = Array::empty(each.values.shape(), each.values.dtype());
  };
  step_all("SGD.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    visit_floating("SGD", each.values.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const SGDOptions& o = *each.options;
      const bool moving = o.momentum > 0;
      kernels::optimizer_kernels().of<T>().sgd(
          each.values.template data<T>() + begin, each.gradient.template data<T>() + begin,
          moving ? each.target->momentum_buffer.template data<T>() + begin : nullptr, end - begin,
          {.rate = -o.lr,
           .decay = o.weight_decay,
           .momentum = o.momentum,
           .share = 1 - o.dampening,
           .nesterov = o.nesterov,
           .maximize = o.maximize,
           .first = each.target->first});
    });
  });
}

template class GroupedOptimizer<SGD, SGDOptions, SGDState>;

}  // namespace tend::optim
