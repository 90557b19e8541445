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

// The gradient g, negated if maximize is set, plus penalty * parameter.
template <class D, class V, class T>
HWY_INLINE V descent(D d, const T* g, V parameter, bool maximize, T penalty) {
  auto gradient = hn::LoadU(d, g);
  if (maximize) gradient = hn::Neg(gradient);
  // A zero penalty is not multiplied: an infinite parameter would make the sum NaN.
  return penalty == 0 ? gradient : hn::Add(gradient, hn::Mul(hn::Set(d, penalty), parameter));
}

// The weighted mean of an old mean and a new number. As in torch.lerp, the formula starts from the
// one with the larger weight.
template <class D, class V, class T>
HWY_INLINE V lerp(D d, V old, V now, T weight) {
  const V way = hn::Sub(now, old);
  if (weight < T(0.5)) return hn::Add(old, hn::Mul(hn::Set(d, weight), way));
  return hn::Sub(now, hn::Mul(way, hn::Set(d, T(1) - weight)));
}

// g becomes -g if maximize is set, then g + penalty * p. Then
// m += (1 - beta1) * (g - m), v = beta2 * v + (1 - beta2) * g^2 and
// p = decay * p + rate * m / (sqrt(v) / correction + eps).
// amsgrad uses the largest v so far in the last formula.
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
    const auto gradient = descent(d, g + i, parameter, maximize, penalty);
    const auto mean = lerp(d, hn::LoadU(d, m + i), gradient, first_weight);
    const auto square = hn::Mul(hn::Mul(hn::Set(d, second_weight), gradient), gradient);
    const auto variance = hn::Add(hn::Mul(hn::LoadU(d, v + i), hn::Set(d, beta2)), square);
    auto scale = variance;
    if (most != nullptr) {
      const auto before = hn::LoadU(d, most + i);
      // If either number is NaN, the result is NaN, as in torch.maximum.
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

// direction = g + decay * p, where g becomes -g if maximize is set. With momentum,
// velocity = momentum * velocity + share * direction. Then direction becomes velocity, or
// direction + momentum * velocity with Nesterov. At the end, p += rate * direction.
template <class T>
void sgd(T* p, const T* g, T* velocity, std::int64_t count, const SGDStep& step) {
  const auto n = static_cast<std::size_t>(count);
  const T rate = static_cast<T>(step.rate), decay = static_cast<T>(step.decay),
          momentum = static_cast<T>(step.momentum), share = static_cast<T>(step.share);
  const bool first = step.first, nesterov = step.nesterov, maximize = step.maximize;
  for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto parameter = hn::LoadU(d, p + i);
    auto direction = descent(d, g + i, parameter, maximize, decay);
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

// square = alpha * square + share * g^2 and divisor = sqrt(square) + eps. If centered,
// divisor = sqrt(square - mean^2) + eps, where mean is the running mean of g. Then
// p += rate * g / divisor. With momentum instead, velocity = momentum * velocity + g / divisor and
// p += rate * velocity.
template <class T>
void rmsprop(T* p, const T* g, T* square, T* mean, T* velocity, std::int64_t count,
             const RMSpropStep& step) {
  const T rate = static_cast<T>(step.rate), penalty = static_cast<T>(step.penalty),
          alpha = static_cast<T>(step.alpha), share = static_cast<T>(step.share),
          momentum = static_cast<T>(step.momentum), eps = static_cast<T>(step.eps);
  const bool maximize = step.maximize;
  const auto n = static_cast<std::size_t>(count);
  for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto parameter = hn::LoadU(d, p + i);
    const auto gradient = descent(d, g + i, parameter, maximize, penalty);
    auto variance = hn::Add(hn::Mul(hn::LoadU(d, square + i), hn::Set(d, alpha)),
                            hn::Mul(hn::Mul(hn::Set(d, share), gradient), gradient));
    hn::StoreU(variance, d, square + i);
    if (mean != nullptr) {
      const auto now = lerp(d, hn::LoadU(d, mean + i), gradient, share);
      hn::StoreU(now, d, mean + i);
      variance = hn::Sub(variance, hn::Mul(now, now));
    }
    const auto divisor = hn::Add(hn::Sqrt(variance), hn::Set(d, eps));
    auto change = hn::Div(hn::Mul(hn::Set(d, rate), gradient), divisor);
    if (velocity != nullptr) {
      const auto speed = hn::Add(hn::Mul(hn::LoadU(d, velocity + i), hn::Set(d, momentum)),
                                 hn::Div(gradient, divisor));
      hn::StoreU(speed, d, velocity + i);
      change = hn::Mul(hn::Set(d, rate), speed);
    }
    hn::StoreU(hn::Add(parameter, change), d, p + i);
  });
}

// p = decay * p + rate * sign(beta1 * m + (1 - beta1) * g), then m = beta2 * m + (1 - beta2) * g
template <class T>
void lion(T* p, const T* g, T* m, std::int64_t count, const LionStep& step) {
  const T rate = static_cast<T>(step.rate), decay = static_cast<T>(step.decay),
          beta1 = static_cast<T>(step.beta1), first_weight = static_cast<T>(step.first_weight),
          beta2 = static_cast<T>(step.beta2), second_weight = static_cast<T>(step.second_weight);
  const auto n = static_cast<std::size_t>(count);
  for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto gradient = hn::LoadU(d, g + i), mean = hn::LoadU(d, m + i), zero = hn::Zero(d);
    const auto mixed = [&](T old, T share) HWY_ATTR {
      return hn::Add(hn::Mul(hn::Set(d, old), mean), hn::Mul(hn::Set(d, share), gradient));
    };
    const auto direction = mixed(beta1, first_weight), full = hn::Set(d, rate);
    // NaN gives zero, as in sign().
    const auto change = hn::Sub(hn::IfThenElseZero(hn::Gt(direction, zero), full),
                                hn::IfThenElseZero(hn::Lt(direction, zero), full));
    hn::StoreU(hn::Add(hn::Mul(hn::LoadU(d, p + i), hn::Set(d, decay)), change), d, p + i);
    hn::StoreU(mixed(beta2, second_weight), d, m + i);
  });
}

const ForTypes<OptimizerKernels>& find_optimizer_kernels() {
  static constexpr ForTypes<OptimizerKernels> kAll = {{adam, sgd, rmsprop, lion},
                                                      {adam, sgd, rmsprop, lion}};
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
