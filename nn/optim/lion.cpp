#include <tend/nn/optim/lion.h>

#include <tend/core/kernels/elementwise/optimizer.h>
#include <tend/nn/optim/grouped_optimizer_members.h>

namespace tend::optim {

void Lion::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_betas(kName, o.betas);
}

void Lion::make_step() {
  const auto prepare = [](Stepped& each) {
    if (!each.state.exp_avg.defined())
      each.state.exp_avg = Array::zeros(each.values.shape(), each.values.dtype());
  };
  step_all("Lion.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    visit_floating("Lion", each.values.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const LionOptions& o = *each.options;
      const LionState& state = *each.target;
      const auto from = [&](const Array& array) { return array.template data<T>() + begin; };
      kernels::optimizer_kernels().of<T>().lion(from(each.values), from(each.gradient),
                                                from(state.exp_avg), end - begin,
                                                {.rate = -o.lr,
                                                 .decay = 1 - o.lr * o.weight_decay,
                                                 .beta1 = o.betas.first,
                                                 .first_weight = 1 - o.betas.first,
                                                 .beta2 = o.betas.second,
                                                 .second_weight = 1 - o.betas.second});
    });
  });
}

template class GroupedOptimizer<Lion, LionOptions, LionState>;

}  // namespace tend::optim
