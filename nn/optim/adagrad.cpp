#include <tend/nn/optim/adagrad.h>

#include <tend/core/kernels/elementwise/optimizer.h>

namespace tend::optim {

void Adagrad::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "lr_decay", o.lr_decay);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "initial_accumulator_value", o.initial_accumulator_value);
  detail::check_from_zero(kName, "eps", o.eps);
}

Update Adagrad::update(const ParameterStep& p, const Options& o) const {
  // RMSprop with a sum in place of the running mean.
  const auto earlier_steps = static_cast<double>(p.state.step - 1);
  const kernels::RMSpropStep step = {.rate = -o.lr / (1 + earlier_steps * o.lr_decay),
                                     .penalty = o.weight_decay,
                                     .alpha = 1,
                                     .share = 1,
                                     .momentum = 0,
                                     .eps = o.eps,
                                     .maximize = o.maximize};
  return visit_floating(kName, p.values.dtype(), [&](auto tag) -> Update {
    using T = typename decltype(tag)::type;
    T* const x = p.values.data<T>();
    const T* const g = p.gradient.data<T>();
    T* const sum = p.array("sum", o.initial_accumulator_value).data<T>();
    return [=](std::int64_t begin, std::int64_t end) {
      kernels::optimizer_kernels().of<T>().rmsprop(x + begin, g + begin, sum + begin, nullptr,
                                                   nullptr, end - begin, step);
    };
  });
}

}  // namespace tend::optim
