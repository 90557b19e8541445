#include <tend/nn/optim/adamw.h>

#include <cmath>

#include <tend/core/kernels/elementwise/optimizer.h>

namespace tend::optim {
namespace {

void check(const AdamWOptions& o) {
  detail::check_from_zero("AdamW", "lr", o.lr);
  detail::check_from_zero("AdamW", "eps", o.eps);
  detail::check_from_zero("AdamW", "weight_decay", o.weight_decay);
  const auto [beta1, beta2] = o.betas;
  if (!(beta1 >= 0 && beta1 < 1) || !(beta2 >= 0 && beta2 < 1)) {
    fail("AdamW", "betas (", beta1, ", ", beta2, ") must lie in [0, 1)");
  }
}

kernels::AdamWStep factors(const AdamWOptions& o, std::int64_t number) {
  const double step = static_cast<double>(number);
  const auto [beta1, beta2] = o.betas;
  return {.decay = 1 - o.lr * o.weight_decay,
          .first_weight = 1 - beta1,
          .beta2 = beta2,
          .second_weight = 1 - beta2,
          .second_correction = std::sqrt(1 - std::pow(beta2, step)),
          .rate = -o.lr / (1 - std::pow(beta1, step)),
          .eps = o.eps};
}

}  // namespace

AdamW::AdamW(const std::vector<Tensor>& parameters, const Options& options) {
  check(options);
  detail::check_some("AdamW", parameters);
  add_group(parameters, options);
}

void AdamW::step() {
  for (const Group& group : groups()) check(group.options);
  const auto prepare = [](Stepped& each) {
    if (each.state.exp_avg.defined()) return;
    each.state.exp_avg = Array::zeros(each.values.shape(), each.values.dtype());
    each.state.exp_avg_sq = Array::zeros(each.values.shape(), each.values.dtype());
  };
  step_all("AdamW.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    visit_floating("AdamW", each.values.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      kernels::optimizer_kernels().of<T>().adamw(
          each.values.template data<T>() + begin, each.gradient.template data<T>() + begin,
          each.target->exp_avg.template data<T>() + begin,
          each.target->exp_avg_sq.template data<T>() + begin, end - begin,
          factors(*each.options, each.target->step));
    });
  });
}

}  // namespace tend::optim
