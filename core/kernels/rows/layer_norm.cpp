#include <tend/core/kernels/rows/layer_norm.h>

#include <algorithm>
#include <cmath>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/kernels/simd/prefetch.h>
#include <tend/core/threads/parallel.h>

#ifndef TEND_CORE_KERNELS_LAYER_NORM_ROWS
#define TEND_CORE_KERNELS_LAYER_NORM_ROWS
namespace tend::kernels {

// `count` contiguous rows of n elements. `out` is the result. In the backward it is the gradient of
// a, and may be null. `mean` is null for rms_norm. weight and bias may be null.
template <class T>
struct NormRows {
  std::size_t count, n;
  T* out;
  T* mean;
  T* rstd;
  const T* a;
  const T* weight;
  const T* bias;
};

template <class T>
struct NormKernels {
  void (*normalise)(const NormRows<T>& rows, T eps);
  void (*differentiate)(const NormRows<T>& rows, const T* grad, T* grad_weight, T* grad_bias);
};

}  // namespace tend::kernels
#endif

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rows/layer_norm.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The sum of f(tag, i) over the row. It uses several vectors, so that additions need not wait for
// one another.
template <class T, std::size_t kMax = 16, class F>
HWY_INLINE T row_sum(std::size_t n, F f, std::size_t i = 0) {
  const hn::CappedTag<T, kMax> d;
  const std::size_t lanes = hn::Lanes(d);
  T sum = 0;
  if (kMax > 1 && n >= 16) {
    auto first = hn::Zero(d), second = first, third = first, fourth = first;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      first = hn::Add(first, f(d, i));
      second = hn::Add(second, f(d, i + lanes));
      third = hn::Add(third, f(d, i + 2 * lanes));
      fourth = hn::Add(fourth, f(d, i + 3 * lanes));
    }
    for (; i + lanes <= n; i += lanes) first = hn::Add(first, f(d, i));
    const auto all = hn::Add(hn::Add(first, second), hn::Add(third, fourth));
    sum = hn::GetLane(hn::SumOfLanes(d, all));
  }
  if constexpr (kMax == 1) {
    for (; i < n; ++i) sum += hn::GetLane(f(d, i));
  } else if (i < n) {
    sum += row_sum<T, kMax / 4>(n, f, i);
  }
  return sum;
}

// Normalises a row. Without kCentred the mean is 0, as in rms_norm. weight and bias may be null.
template <bool kCentred, class T>
HWY_INLINE void normalise(std::size_t n, T* out, T* mean, T* rstd, const T* a, const T* weight,
                          const T* bias, T eps, bool prefetches) {
  const T count = static_cast<T>(n);
  T m = 0;
  const auto centred = [&](auto d, std::size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, a + i);
    return kCentred ? hn::Sub(x, hn::Set(d, m)) : x;
  };
  if constexpr (kCentred) {
    m = row_sum<T>(n, [&](auto d, std::size_t i) HWY_ATTR { return hn::LoadU(d, a + i); }) / count;
    // Corrects the rounding error, which matters if the mean is far from 0 and the deviation is
    // small.
    m += row_sum<T>(n, centred) / count;
    *mean = m;
  }
  const T sum = row_sum<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    if (prefetches) prefetch_ahead(a + i);
    const auto x = centred(d, i);
    return hn::Mul(x, x);
  });
  const T r = 1 / std::sqrt(sum / count + eps);
  *rstd = r;
  for_row_vectors<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    if (prefetches) prefetch_ahead(out + i);
    auto x = hn::Mul(centred(d, i), hn::Set(d, r));
    if (weight) x = hn::Mul(x, hn::LoadU(d, weight + i));
    if (bias) x = hn::Add(x, hn::LoadU(d, bias + i));
    hn::StoreU(x, d, out + i);
  });
}

// Differentiates a row. weight and the gradients may be null. The gradients of weight and bias are
// added to grad_weight and grad_bias.
template <bool kCentred, class T>
HWY_INLINE void differentiate(std::size_t n, T* grad_a, T* grad_weight, T* grad_bias, const T* grad,
                              const T* a, T mean, T rstd, const T* weight) {
  const auto normal = [&](auto d, std::size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, a + i);
    return hn::Mul(kCentred ? hn::Sub(x, hn::Set(d, mean)) : x, hn::Set(d, rstd));
  };
  const auto weighted = [&](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, grad + i);
    return weight ? hn::Mul(g, hn::LoadU(d, weight + i)) : g;
  };
  const T count = static_cast<T>(n);
  T first = 0, second = 0;
  if (grad_a) {
    if constexpr (kCentred) first = row_sum<T>(n, weighted) / count;
    second = row_sum<T>(n, [&](auto d, std::size_t i)
                               HWY_ATTR { return hn::Mul(weighted(d, i), normal(d, i)); }) /
             count;
  }
  for_row_vectors<T>(n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, grad + i), x = normal(d, i);
    if (grad_weight) {
      const auto sum = hn::LoadU(d, grad_weight + i);
      hn::StoreU(hn::Add(sum, hn::Mul(g, x)), d, grad_weight + i);
    }
    if (grad_bias) hn::StoreU(hn::Add(hn::LoadU(d, grad_bias + i), g), d, grad_bias + i);
    if (grad_a) {
      auto rest = weighted(d, i);
      if constexpr (kCentred) rest = hn::Sub(rest, hn::Set(d, first));
      rest = hn::Sub(rest, hn::Mul(x, hn::Set(d, second)));
      hn::StoreU(hn::Mul(rest, hn::Set(d, rstd)), d, grad_a + i);
    }
  });
}

template <class T>
void normalise_rows(const NormRows<T>& rows, T eps) {
  const std::size_t n = rows.n;
  const bool prefetches = pays_to_prefetch(rows.count * n * sizeof(T));
  for (std::size_t r = 0; r < rows.count; ++r) {
    T* const out = rows.out + r * n;
    const T* const a = rows.a + r * n;
    if (rows.mean) {
      normalise<true>(n, out, rows.mean + r, rows.rstd + r, a, rows.weight, rows.bias, eps,
                      prefetches);
    } else {
      normalise<false, T>(n, out, nullptr, rows.rstd + r, a, rows.weight, rows.bias, eps,
                          prefetches);
    }
  }
}

template <class T>
void differentiate_rows(const NormRows<T>& rows, const T* grad, T* grad_weight, T* grad_bias) {
  const std::size_t n = rows.n;
  for (std::size_t r = 0; r < rows.count; ++r) {
    T* const out = rows.out ? rows.out + r * n : nullptr;
    const T* const a = rows.a + r * n;
    if (rows.mean) {
      differentiate<true>(n, out, grad_weight, grad_bias, grad + r * n, a, rows.mean[r],
                          rows.rstd[r], rows.weight);
    } else {
      differentiate<false>(n, out, grad_weight, grad_bias, grad + r * n, a, T(0), rows.rstd[r],
                           rows.weight);
    }
  }
}

const ForTypes<NormKernels>& find_norm_kernels() {
  static constexpr ForTypes<NormKernels> kAll = {{normalise_rows, differentiate_rows},
                                                 {normalise_rows, differentiate_rows}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_norm_kernels);

// Writes the sum of the rows of `parts` (chunks, n) to `out`, beginning with the first chunk.
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

// The rows [begin, end) of the arrays.
template <class T>
NormRows<T> rows_of(const Array& out, const Array& mean, const Array& rstd, const Array& a,
                    const Array& weight, const Array& bias, std::int64_t begin, std::int64_t end) {
  const std::int64_t n = a.shape()[1];
  const auto at = [](const Array& x, std::int64_t offset) {
    return x.defined() ? x.data<T>() + offset : nullptr;
  };
  return {static_cast<std::size_t>(end - begin),
          static_cast<std::size_t>(n),
          at(out, begin * n),
          at(mean, begin),
          at(rstd, begin),
          at(a, begin * n),
          at(weight, 0),
          at(bias, 0)};
}

}  // namespace

void layer_norm(const Array& out, const Array& mean, const Array& rstd, const Array& a,
                const Array& weight, const Array& bias, double eps) {
  visit_floating("layer_norm", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto normalise = HWY_DYNAMIC_DISPATCH(find_norm_kernels)().of<T>().normalise;
    const std::int64_t rows = a.shape()[0];
    parallel_for(0, rows, row_grain(rows, a.shape()[1]), [&](std::int64_t begin, std::int64_t end) {
      normalise(rows_of<T>(out, mean, rstd, a, weight, bias, begin, end), static_cast<T>(eps));
    });
  });
}

void layer_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad_bias,
                         const Array& grad, const Array& a, const Array& mean, const Array& rstd,
                         const Array& weight) {
  visit_floating("layer_norm", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t rows = a.shape()[0], n = a.shape()[1];
    // Each chunk of rows sums the gradients of weight and bias separately. There are at most 64
    // chunks, so adding their sums costs little.
    const std::int64_t grain = std::max(row_grain(rows, n), (rows - 1) / 64 + 1);
    const Shape parts{rows / grain + (rows % grain != 0), n};
    const Array weight_parts = grad_weight.defined() ? Array::zeros(parts, a.dtype()) : Array();
    const Array bias_parts = grad_bias.defined() ? Array::zeros(parts, a.dtype()) : Array();
    const auto differentiate = HWY_DYNAMIC_DISPATCH(find_norm_kernels)().of<T>().differentiate;
    const auto part = [&](const Array& x, std::int64_t begin) {
      return x.defined() ? x.data<T>() + begin / grain * n : nullptr;
    };
    parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
      differentiate(rows_of<T>(grad_a, mean, rstd, a, weight, {}, begin, end),
                    grad.data<T>() + begin * n, part(weight_parts, begin), part(bias_parts, begin));
    });
    add_chunks<T>(grad_weight, weight_parts);
    add_chunks<T>(grad_bias, bias_parts);
  });
}

void rms_norm(const Array& out, const Array& rstd, const Array& a, const Array& weight,
              double eps) {
  layer_norm(out, {}, rstd, a, weight, {}, eps);
}

void rms_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad,
                       const Array& a, const Array& rstd, const Array& weight) {
  layer_norm_backward(grad_a, grad_weight, {}, grad, a, {}, rstd, weight);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
