#include <tend/nn/optim/rmsprop.h>

#include <tend/core/kernels/elementwise/optimizer.h>

namespace tend::optim {

void RMSprop::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "alpha", o.alpha);
  detail::check_from_zero(kName, "eps", o.eps);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "momentum", o.momentum);
}

Update RMSprop::update(const ParameterStep& p, const Options& o) const {
  const kernels::RMSpropStep step = {.rate = -o.lr,
                                     .penalty = o.weight_decay,
                                     .alpha = o.alpha,
                                     .share = 1 - o.alpha,
                                     .momentum = o.momentum,
                                     .eps = o.eps,
                                     .maximize = o.maximize};
  return visit_floating(kName, p.values.dtype(), [&](auto tag) -> Update {
    using T = typename decltype(tag)::type;
    T* const x = p.values.data<T>();
    const T* const g = p.gradient.data<T>();
    T* const square = p.array("square_avg").data<T>();
    T* const mean = o.centered ? p.array("grad_avg").data<T>() : nullptr;
    T* const velocity = o.momentum > 0 ? p.array("momentum_buffer").data<T>() : nullptr;
    return [=](std::int64_t begin, std::int64_t end) {
      kernels::optimizer_kernels().of<T>().rmsprop(
          x + begin, g + begin, square + begin, mean ? mean + begin : nullptr,
          velocity ? velocity + begin : nullptr, end - begin, step);
    };
  });
}

}  // namespace tend::optim
