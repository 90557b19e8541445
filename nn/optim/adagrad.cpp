#include <tend/nn/optim/adagrad.h>

#include <tend/core/kernels/elementwise/optimizer.h>

namespace tend::optim {
namespace {

void check(const AdagradOptions& o) {
  detail::check_from_zero("Adagrad", "lr", o.lr);
  detail::check_from_zero("Adagrad", "lr_decay", o.lr_decay);
  detail::check_from_zero("Adagrad", "weight_decay", o.weight_decay);
  detail::check_from_zero("Adagrad", "initial_accumulator_value", o.initial_accumulator_value);
  detail::check_from_zero("Adagrad", "eps", o.eps);
}

}  // namespace

Adagrad::Adagrad(const std::vector<Tensor>& parameters, const Options& options) {
  check(options);
  detail::check_some("Adagrad", parameters);
  add_group(parameters, options);
}

void Adagrad::step() {
  for (const Group& group : groups()) check(group.options);
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

}  // namespace tend::optim
