#include <tend/core/kernels/optimizer.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/optimizer.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls f(d, i) for vectors d at i = 0, ..., and for single elements where no vector fits any more:
// every operation rounds as IEEE 754 says, so a result does not depend on its place.
template <class T, class F>
HWY_INLINE void for_places(std::int64_t count, F f) {
  const hn::ScalableTag<T> d;
  const auto n = static_cast<std::size_t>(count);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) f(d, i);
  for (; i < n; ++i) f(hn::CappedTag<T, 1>(), i);
}

// m += (1 - beta1) (g - m), v = beta2 v + (1 - beta2) g^2,
// p = decay p + rate m / (sqrt(v) / correction + eps)
template <class T>
HWY_INLINE void adamw(T* p, const T* g, T* m, T* v, std::int64_t count, const AdamWStep& step) {
  const T decay = static_cast<T>(step.decay), first_weight = static_cast<T>(step.first_weight),
          beta2 = static_cast<T>(step.beta2), second_weight = static_cast<T>(step.second_weight),
          correction = static_cast<T>(step.second_correction), rate = static_cast<T>(step.rate),
          eps = static_cast<T>(step.eps);
  for_places<T>(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto gradient = hn::LoadU(d, g + i);
    const auto old = hn::LoadU(d, m + i);
    const auto mean = hn::Add(old, hn::Mul(hn::Set(d, first_weight), hn::Sub(gradient, old)));
    const auto square = hn::Mul(hn::Mul(hn::Set(d, second_weight), gradient), gradient);
    const auto variance = hn::Add(hn::Mul(hn::LoadU(d, v + i), hn::Set(d, beta2)), square);
    const auto divisor =
        hn::Add(hn::Div(hn::Sqrt(variance), hn::Set(d, correction)), hn::Set(d, eps));
    const auto change = hn::Div(hn::Mul(hn::Set(d, rate), mean), divisor);
    hn::StoreU(mean, d, m + i);
    hn::StoreU(variance, d, v + i);
    hn::StoreU(hn::Add(hn::Mul(hn::LoadU(d, p + i), hn::Set(d, decay)), change), d, p + i);
  });
}

// velocity = momentum velocity + share (g + decay p), and p += rate (what momentum and Nesterov
// make of it)
template <class T>
HWY_INLINE void sgd(T* p, const T* g, T* velocity, std::int64_t count, const SGDStep& step) {
  const T rate = static_cast<T>(step.rate), decay = static_cast<T>(step.decay),
          momentum = static_cast<T>(step.momentum), share = static_cast<T>(step.share);
  const bool first = step.first, nesterov = step.nesterov;
  for_places<T>(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto parameter = hn::LoadU(d, p + i);
    auto direction = hn::Add(hn::LoadU(d, g + i), hn::Mul(hn::Set(d, decay), parameter));
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

void adamw_floats(float* p, const float* g, float* m, float* v, std::int64_t count,
                  const AdamWStep& step) {
  adamw(p, g, m, v, count, step);
}
void adamw_doubles(double* p, const double* g, double* m, double* v, std::int64_t count,
                   const AdamWStep& step) {
  adamw(p, g, m, v, count, step);
}
void sgd_floats(float* p, const float* g, float* velocity, std::int64_t count,
                const SGDStep& step) {
  sgd(p, g, velocity, count, step);
}
void sgd_doubles(double* p, const double* g, double* velocity, std::int64_t count,
                 const SGDStep& step) {
  sgd(p, g, velocity, count, step);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(adamw_floats);
HWY_EXPORT(adamw_doubles);
HWY_EXPORT(sgd_floats);
HWY_EXPORT(sgd_doubles);

void adamw_step(float* p, const float* g, float* m, float* v, std::int64_t count,
                const AdamWStep& step) {
  HWY_DYNAMIC_DISPATCH(adamw_floats)(p, g, m, v, count, step);
}
void adamw_step(double* p, const double* g, double* m, double* v, std::int64_t count,
                const AdamWStep& step) {
  HWY_DYNAMIC_DISPATCH(adamw_doubles)(p, g, m, v, count, step);
}
void sgd_step(float* p, const float* g, float* velocity, std::int64_t count, const SGDStep& step) {
  HWY_DYNAMIC_DISPATCH(sgd_floats)(p, g, velocity, count, step);
}
void sgd_step(double* p, const double* g, double* velocity, std::int64_t count,
              const SGDStep& step) {
  HWY_DYNAMIC_DISPATCH(sgd_doubles)(p, g, velocity, count, step);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
