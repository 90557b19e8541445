#include <tend/nn/optim/adagrad.h>

#include <tend/core/kernels/elementwise/optimizer.h>
#include <tend/nn/optim/grouped_optimizer_members.h>

namespace tend::optim {

void Adagrad::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "lr_decay", o.lr_decay);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "initial_accumulator_value", o.initial_accumulator_value);
  detail::check_from_zero(kName, "eps", o.eps);
}

void Adagrad::make_step() {
  const auto prepare = [](Stepped& each) {
    if (each.state.sum.defined()) return;
    each.state.sum = Array::full(each.values.shape(), each.options->initial_accumulator_value,
                                 each.values.dtype());
  };
  step_all("Adagrad.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    visit_floating("Adagrad", each.values.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const AdagradOptions& o = *each.options;
      const AdagradState& state = *each.target;
      const auto from = [&](const Array& array) { return array.template data<T>() + begin; };
      // RMSprop with a sum in place of the running mean.
      kernels::optimizer_kernels().of<T>().rmsprop(
          from(each.values), from(each.gradient), from(state.sum), nullptr, nullptr, end - begin,
          {.rate = -o.lr / (1 + static_cast<double>(state.step - 1) * o.lr_decay),
           .penalty = o.weight_decay,
           .alpha = 1,
           .share = 1,
           .momentum = 0,
           .eps = o.eps,
           .maximize = o.maximize});
    });
  });
}

template class GroupedOptimizer<Adagrad, AdagradOptions, AdagradState>;

}  // namespace tend::optim
