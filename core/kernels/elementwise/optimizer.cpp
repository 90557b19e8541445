#include <tend/core/kernels/elementwise/optimizer.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/optimizer.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// g becomes -g to maximize, then g + penalty p; m += (1 - beta1) (g - m),
// v = beta2 v + (1 - beta2) g^2, p = decay p + rate m / (sqrt(v) / correction + eps), where amsgrad
// takes the largest v so far
template <class T>
void adam(T* p, const T* g, T* m, T* v, T* most, std::int64_t count, const AdamStep& step) {
  const auto n = static_cast<std::size_t>(count);
  const T decay = static_cast<T>(step.decay), first_weight = static_cast<T>(step.first_weight),
          beta2 = static_cast<T>(step.beta2), second_weight = static_cast<T>(step.second_weight),
          correction = static_cast<T>(step.second_correction), rate = static_cast<T>(step.rate),
          eps = static_cast<T>(step.eps), penalty = static_cast<T>(step.penalty);
  const bool maximize = step.maximize;
  for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto parameter = hn::LoadU(d, p + i);
    auto gradient = hn::LoadU(d, g + i);
    if (maximize) gradient = hn::Neg(gradient);
    // Not for zero: an infinite parameter would make the sum NaN.
    if (penalty != 0) gradient = hn::Add(gradient, hn::Mul(hn::Set(d, penalty), parameter));
    const auto old = hn::LoadU(d, m + i);
    const auto mean = hn::Add(old, hn::Mul(hn::Set(d, first_weight), hn::Sub(gradient, old)));
    const auto square = hn::Mul(hn::Mul(hn::Set(d, second_weight), gradient), gradient);
    const auto variance = hn::Add(hn::Mul(hn::LoadU(d, v + i), hn::Set(d, beta2)), square);
    auto scale = variance;
    if (most != nullptr) {
      const auto before = hn::LoadU(d, most + i);
      // As torch.maximum, NaN wins on either side.
      const auto keeps = hn::Or(hn::Gt(before, variance), hn::IsNaN(before));
      scale = hn::IfThenElse(keeps, before, variance);
      hn::StoreU(scale, d, most + i);
    }
    const auto divisor = hn::Add(hn::Div(hn::Sqrt(scale), hn::Set(d, correction)), hn::Set(d, eps));
    const auto change = hn::Div(hn::Mul(hn::Set(d, rate), mean), divisor);
    hn::StoreU(mean, d, m + i);
    hn::StoreU(variance, d, v + i);
    hn::StoreU(hn::Add(hn::Mul(parameter, hn::Set(d, decay)), change), d, p + i);
  });
}

// direction = g + decay p, with -g to maximize; with momentum, velocity = momentum velocity + share
// direction, and direction becomes velocity or, with Nesterov, direction + momentum velocity; p +=
// rate direction
template <class T>
void sgd(T* p, const T* g, T* velocity, std::int64_t count, const SGDStep& step) {
  const auto n = static_cast<std::size_t>(count);
  const T rate = static_cast<T>(step.rate), decay = static_cast<T>(step.decay),
          momentum = static_cast<T>(step.momentum), share = static_cast<T>(step.share);
  const bool first = step.first, nesterov = step.nesterov, maximize = step.maximize;
  for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto parameter = hn::LoadU(d, p + i);
    auto gradient = hn::LoadU(d, g + i);
    if (maximize) gradient = hn::Neg(gradient);
    auto direction = hn::Add(gradient, hn::Mul(hn::Set(d, decay), parameter));
    if (velocity != nullptr) {
      auto speed = direction;
      if (!first) {
        speed = hn::Add(hn::Mul(hn::Set(d, momentum), hn::LoadU(d, velocity + i)),
                        hn::Mul(hn::Set(d, share), direction));
      }
      hn::StoreU(speed, d, velocity + i);
      direction = nesterov ? hn::Add(direction, hn::Mul(hn::Set(d, momentum), speed)) : speed;
    }
    hn::StoreU(hn::Add(parameter, hn::Mul(hn::Set(d, rate), direction)), d, p + i);
  });
}

const ForTypes<OptimizerKernels>& find_optimizer_kernels() {
  static constexpr ForTypes<OptimizerKernels> kAll = {{adam, sgd}, {adam, sgd}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_optimizer_kernels);

const ForTypes<OptimizerKernels>& optimizer_kernels() {
  return HWY_DYNAMIC_DISPATCH(find_optimizer_kernels)();
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
