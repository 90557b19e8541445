#include <tend/nn/optim/lion.h>

#include <tend/core/kernels/elementwise/optimizer.h>

namespace tend::optim {

void Lion::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_betas(kName, o.betas);
}

Update Lion::update(const ParameterStep& p, const Options& o) const {
  const kernels::LionStep step = {.rate = -o.lr,
                                  .decay = 1 - o.lr * o.weight_decay,
                                  .beta1 = o.betas.first,
                                  .first_weight = 1 - o.betas.first,
                                  .beta2 = o.betas.second,
                                  .second_weight = 1 - o.betas.second};
  return visit_floating(kName, p.values.dtype(), [&](auto tag) -> Update {
    using T = typename decltype(tag)::type;
    T* const x = p.values.data<T>();
    const T* const g = p.gradient.data<T>();
    T* const m = p.array("exp_avg").data<T>();
    return [=](std::int64_t begin, std::int64_t end) {
      kernels::optimizer_kernels().of<T>().lion(x + begin, g + begin, m + begin, end - begin, step);
    };
  });
}

}  // namespace tend::optim
