#include <tend/nn/optim/adam.h>

#include <cmath>

#include <tend/core/kernels/elementwise/optimizer.h>
#include <tend/nn/optim/grouped_optimizer_members.h>

namespace tend::optim {

void detail::check_adam(const char* name, const AdamOptions& options) {
  check_from_zero(name, "lr", options.lr);
  check_from_zero(name, "eps", options.eps);
  check_from_zero(name, "weight_decay", options.weight_decay);
  check_betas(name, options.betas);
}

void detail::prepare_adam(AdamState& state, const Array& values, bool amsgrad) {
  const auto make = [&](Array& moment) {
    if (!moment.defined()) moment = Array::zeros(values.shape(), values.dtype());
  };
  make(state.exp_avg);
  make(state.exp_avg_sq);
  if (amsgrad) make(state.max_exp_avg_sq);
}

void detail::update_adam(const Array& values, const Array& gradient, const AdamState& state,
                         const AdamOptions& o, bool decoupled, std::int64_t begin,
                         std::int64_t end) {
  const double number = static_cast<double>(state.step);
  const auto [beta1, beta2] = o.betas;
  const kernels::AdamStep step = {.decay = decoupled ? 1 - o.lr * o.weight_decay : 1,
                                  .penalty = decoupled ? 0 : o.weight_decay,
                                  .first_weight = 1 - beta1,
                                  .beta2 = beta2,
                                  .second_weight = 1 - beta2,
                                  .second_correction = std::sqrt(1 - std::pow(beta2, number)),
                                  .rate = -o.lr / (1 - std::pow(beta1, number)),
                                  .eps = o.eps,
                                  .maximize = o.maximize};
  visit_floating("Adam", values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = [&](const Array& array) { return array.template data<T>() + begin; };
    kernels::optimizer_kernels().of<T>().adam(
        from(values), from(gradient), from(state.exp_avg), from(state.exp_avg_sq),
        o.amsgrad ? from(state.max_exp_avg_sq) : nullptr, end - begin, step);
  });
}

void Adam::check(const Options& options) {
  detail::check_adam(kName, options);
}

void Adam::make_step() {
  const auto prepare = [](Stepped& each) {
    detail::prepare_adam(each.state, each.values, each.options->amsgrad);
  };
  step_all("Adam.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    detail::update_adam(each.values, each.gradient, *each.target, *each.options, false, begin, end);
  });
}

template class GroupedOptimizer<Adam, AdamOptions, AdamState>;

}  // namespace tend::optim
