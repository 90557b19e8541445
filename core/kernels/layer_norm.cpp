#include <tend/core/kernels/layer_norm.h>

#include <algorithm>
#include <cmath>
#include <concepts>

#include <tend/core/kernels/loops.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls f(tag, i) for vectors of elements from i on, then for single ones; in short rows all are
// single.
template <class T, class F>
HWY_INLINE void for_row(std::size_t n, F f) {
  const hn::CappedTag<T, 16> d;
  std::size_t i = 0;
  if (n >= 16) {
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) f(d, i);
  }
  for (; i < n; ++i) f(hn::CappedTag<T, 1>(), i);
}

// The sum of f(tag, i) over the row.
template <class T, class F>
HWY_INLINE T row_sum(std::size_t n, F f) {
  const hn::CappedTag<T, 16> d;
  std::size_t i = 0;
  T sum = 0;
  if (n >= 16) {
    auto sums = hn::Zero(d);
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) sums = hn::Add(sums, f(d, i));
    sum = hn::GetLane(hn::SumOfLanes(d, sums));
  }
  for (; i < n; ++i) sum += hn::GetLane(f(hn::CappedTag<T, 1>(), i));
  return sum;
}

// weight and bias may be null.
template <class T>
HWY_INLINE void normalise(std::size_t n, T* out, T* mean, T* rstd, const T* a, const T* weight,
                          const T* bias, T eps) {
  const T count = static_cast<T>(n);
  const T m =
      row_sum<T>(n, [&](auto d, std::size_t i) HWY_ATTR { return hn::LoadU(d, a + i); }) / count;
  const T var = row_sum<T>(n,
                           [&](auto d, std::size_t i) HWY_ATTR {
                             const auto x = hn::Sub(hn::LoadU(d, a + i), hn::Set(d, m));
                             return hn::Mul(x, x);
                           }) /
                count;
  const T r = 1 / std::sqrt(var + eps);
  for_row<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    auto x = hn::Mul(hn::Sub(hn::LoadU(d, a + i), hn::Set(d, m)), hn::Set(d, r));
    if (weight) x = hn::Mul(x, hn::LoadU(d, weight + i));
    if (bias) x = hn::Add(x, hn::LoadU(d, bias + i));
    hn::StoreU(x, d, out + i);
  });
  *mean = m;
  *rstd = r;
}

// weight may be null; so may the gradients, of which those of weight and bias are added to.
template <class T>
HWY_INLINE void differentiate(std::size_t n, T* grad_a, T* grad_weight, T* grad_bias, const T* grad,
                              const T* a, T mean, T rstd, const T* weight) {
  const auto normal = [&](auto d, std::size_t i) HWY_ATTR {
    return hn::Mul(hn::Sub(hn::LoadU(d, a + i), hn::Set(d, mean)), hn::Set(d, rstd));
  };
  const auto weighted = [&](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, grad + i);
    return weight ? hn::Mul(g, hn::LoadU(d, weight + i)) : g;
  };
  if (grad_a) {
    const T count = static_cast<T>(n);
    const T first = row_sum<T>(n, weighted) / count;
    const T second = row_sum<T>(n, [&](auto d, std::size_t i)
                                       HWY_ATTR { return hn::Mul(weighted(d, i), normal(d, i)); }) /
                     count;
    for_row<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto along = hn::Mul(normal(d, i), hn::Set(d, second));
      const auto rest = hn::Sub(hn::Sub(weighted(d, i), hn::Set(d, first)), along);
      hn::StoreU(hn::Mul(rest, hn::Set(d, rstd)), d, grad_a + i);
    });
  }
  if (grad_weight) {
    for_row<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
      const auto product = hn::Mul(hn::LoadU(d, grad + i), normal(d, i));
      hn::StoreU(hn::Add(hn::LoadU(d, grad_weight + i), product), d, grad_weight + i);
    });
  }
  if (grad_bias) {
    for_row<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, grad_bias + i), hn::LoadU(d, grad + i)), d, grad_bias + i);
    });
  }
}

// One name for each element type, as HWY_EXPORT wants.

void normalise_float(std::size_t n, float* out, float* mean, float* rstd, const float* a,
                     const float* weight, const float* bias, float eps) {
  normalise(n, out, mean, rstd, a, weight, bias, eps);
}
void normalise_double(std::size_t n, double* out, double* mean, double* rstd, const double* a,
                      const double* weight, const double* bias, double eps) {
  normalise(n, out, mean, rstd, a, weight, bias, eps);
}
void differentiate_float(std::size_t n, float* grad_a, float* grad_weight, float* grad_bias,
                         const float* grad, const float* a, float mean, float rstd,
                         const float* weight) {
  differentiate(n, grad_a, grad_weight, grad_bias, grad, a, mean, rstd, weight);
}
void differentiate_double(std::size_t n, double* grad_a, double* grad_weight, double* grad_bias,
                          const double* grad, const double* a, double mean, double rstd,
                          const double* weight) {
  differentiate(n, grad_a, grad_weight, grad_bias, grad, a, mean, rstd, weight);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(normalise_float);
HWY_EXPORT(normalise_double);
HWY_EXPORT(differentiate_float);
HWY_EXPORT(differentiate_double);

template <class T>
auto normalise_row() {
  if constexpr (std::same_as<T, float>) {
    return HWY_DYNAMIC_DISPATCH(normalise_float);
  } else {
    return HWY_DYNAMIC_DISPATCH(normalise_double);
  }
}

template <class T>
auto differentiate_row() {
  if constexpr (std::same_as<T, float>) {
    return HWY_DYNAMIC_DISPATCH(differentiate_float);
  } else {
    return HWY_DYNAMIC_DISPATCH(differentiate_double);
  }
}

template <class T>
T* data_or_null(const Array& array) {
  return array.defined() ? array.data<T>() : nullptr;
}

// Rows per chunk of a parallel loop.
std::int64_t row_grain(std::int64_t n) {
  return std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(n, 1));
}

// Sums of the rows of `parts` (chunks, n), first chunk first.
template <class T>
void add_chunks(const Array& out, const Array& parts) {
  if (!out.defined()) return;
  T* sums = out.data<T>();
  const T* part = parts.data<T>();
  std::fill_n(sums, out.numel(), T(0));
  for (std::int64_t chunk = 0; chunk < parts.shape()[0]; ++chunk) {
    for (std::int64_t i = 0; i < out.numel(); ++i) sums[i] += *part++;
  }
}

}  // namespace

void layer_norm(const Array& out, const Array& mean, const Array& rstd, const Array& a,
                const Array& weight, const Array& bias, double eps) {
  visit_floating("layer_norm", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t rows = a.shape()[0], n = a.shape()[1];
    const auto normalise = normalise_row<T>();
    T* to = out.data<T>();
    const T* from = a.data<T>();
    const T* w = data_or_null<T>(weight);
    const T* b = data_or_null<T>(bias);
    T* means = mean.data<T>();
    T* rstds = rstd.data<T>();
    parallel_for(0, rows, row_grain(n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        normalise(static_cast<std::size_t>(n), to + row * n, means + row, rstds + row,
                  from + row * n, w, b, static_cast<T>(eps));
      }
    });
  });
}

void layer_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad_bias,
                         const Array& grad, const Array& a, const Array& mean, const Array& rstd,
                         const Array& weight) {
  visit_floating("layer_norm", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t rows = a.shape()[0], n = a.shape()[1], grain = row_grain(n);
    // Each chunk of rows sums the gradients of weight and bias by itself.
    const Shape parts{rows / grain + (rows % grain != 0), n};
    const Array weight_parts = grad_weight.defined() ? Array::zeros(parts, a.dtype()) : Array();
    const Array bias_parts = grad_bias.defined() ? Array::zeros(parts, a.dtype()) : Array();
    const auto differentiate = differentiate_row<T>();
    const auto at = [](const Array& x, std::int64_t offset) {
      return x.defined() ? x.data<T>() + offset : nullptr;
    };
    parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t part = begin / grain * n;
      for (std::int64_t row = begin; row < end; ++row) {
        differentiate(static_cast<std::size_t>(n), at(grad_a, row * n), at(weight_parts, part),
                      at(bias_parts, part), at(grad, row * n), at(a, row * n), *at(mean, row),
                      *at(rstd, row), at(weight, 0));
      }
    });
    add_chunks<T>(grad_weight, weight_parts);
    add_chunks<T>(grad_bias, bias_parts);
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
