#include <tend/nn/optim/rmsprop.h>

#include <tend/core/kernels/elementwise/optimizer.h>
#include <tend/nn/optim/grouped_optimizer_members.h>

namespace tend::optim {

void RMSprop::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "alpha", o.alpha);
  detail::check_from_zero(kName, "eps", o.eps);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "momentum", o.momentum);
}

void RMSprop::make_step() {
  const auto prepare = [](Stepped& each) {
    const auto make = [&](Array& array) {
      if (!array.defined()) array = Array::zeros(each.values.shape(), each.values.dtype());
    };
    make(each.state.square_avg);
    if (each.options->momentum > 0) make(each.state.momentum_buffer);
    if (each.options->centered) make(each.state.grad_avg);
  };
  step_all("RMSprop.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    visit_floating("RMSprop", each.values.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const RMSpropOptions& o = *each.options;
      const RMSpropState& state = *each.target;
      const auto from = [&](const Array& array) { return array.template data<T>() + begin; };
      kernels::optimizer_kernels().of<T>().rmsprop(
          from(each.values), from(each.gradient), from(state.square_avg),
          o.centered ? from(state.grad_avg) : nullptr,
          o.momentum > 0 ? from(state.momentum_buffer) : nullptr, end - begin,
          {.rate = -o.lr,
           .penalty = o.weight_decay,
           .alpha = o.alpha,
           .share = 1 - o.alpha,
           .momentum = o.momentum,
           .eps = o.eps,
           .maximize = o.maximize});
    });
  });
}

template class GroupedOptimizer<RMSprop, RMSpropOptions, RMSpropState>;

}  // namespace tend::optim
