#include <tend/core/kernels/softmax.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include <tend/core/kernels/loops.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Rows of 16 or more contiguous float32 elements, so that one vector always fits.
using RowTag = hn::CappedTag<float, 16>;
using Row = hn::Vec<RowTag>;

// Sums f(i, a[i...], b[i...]) over vectors from left to right. The last vector ends with the row
// and so may overlap the one before: it is read first, as f may write where it reads, and its
// overlap is not summed twice.
template <class F>
HWY_INLINE Row for_row(std::size_t n, const float* a, const float* b, F f) {
  const RowTag d;
  const std::size_t lanes = hn::Lanes(d);
  const Row last_a = hn::LoadU(d, a + n - lanes);
  const Row last_b = hn::LoadU(d, b + n - lanes);
  Row sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    sum = hn::Add(sum, f(i, hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
  if (i == n) return sum;
  const Row rest = f(n - lanes, last_a, last_b);
  return hn::Add(sum, hn::IfThenZeroElse(hn::FirstN(d, i - (n - lanes)), rest));
}

HWY_INLINE Row row_max(std::size_t n, const float* a) {
  const RowTag d;
  Row largest = hn::LoadU(d, a);
  for_row(n, a, a, [&](std::size_t, Row x, Row) HWY_ATTR { return largest = hn::Max(largest, x); });
  return hn::MaxOfLanes(d, largest);
}

void softmax_row(std::size_t n, float* out, const float* a, const float*) {
  const RowTag d;
  const Row largest = row_max(n, a);
  const Row sum = for_row(n, a, a, [&](std::size_t i, Row x, Row) HWY_ATTR {
    const Row e = exp(d, hn::Sub(x, largest));
    hn::StoreU(e, d, out + i);
    return e;
  });
  const Row factor = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sum));
  for_row(n, out, out, [&](std::size_t i, Row e, Row) HWY_ATTR {
    hn::StoreU(hn::Mul(e, factor), d, out + i);
    return e;
  });
}

void log_softmax_row(std::size_t n, float* out, const float* a, const float*) {
  const RowTag d;
  const Row largest = row_max(n, a);
  const Row sum = for_row(
      n, a, a, [&](std::size_t, Row x, Row) HWY_ATTR { return exp(d, hn::Sub(x, largest)); });
  const Row log_sum = log(d, hn::SumOfLanes(d, sum));
  for_row(n, a, a, [&](std::size_t i, Row x, Row) HWY_ATTR {
    hn::StoreU(hn::Sub(hn::Sub(x, largest), log_sum), d, out + i);
    return x;
  });
}

void softmax_backward_row(std::size_t n, float* out, const float* grad, const float* y) {
  const RowTag d;
  const Row dot = hn::SumOfLanes(
      d, for_row(n, grad, y, [](std::size_t, Row g, Row v) HWY_ATTR { return hn::Mul(g, v); }));
  for_row(n, grad, y, [&](std::size_t i, Row g, Row v) HWY_ATTR {
    hn::StoreU(hn::Mul(v, hn::Sub(g, dot)), d, out + i);
    return g;
  });
}

void log_softmax_backward_row(std::size_t n, float* out, const float* grad, const float* y) {
  const RowTag d;
  const Row sum =
      hn::SumOfLanes(d, for_row(n, grad, grad, [](std::size_t, Row g, Row) HWY_ATTR { return g; }));
  for_row(n, grad, y, [&](std::size_t i, Row g, Row v) HWY_ATTR {
    hn::StoreU(hn::NegMulAdd(exp(d, v), sum, g), d, out + i);
    return g;
  });
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(softmax_row);
HWY_EXPORT(log_softmax_row);
HWY_EXPORT(softmax_backward_row);
HWY_EXPORT(log_softmax_backward_row);

// Short rows and float64, element by element. Each operation knows its vectorised row too.

template <std::floating_point T>
T precise_exp(T x) {
  return static_cast<T>(std::exp(static_cast<double>(x)));
}

struct Softmax {
  static auto simd_row() { return HWY_DYNAMIC_DISPATCH(softmax_row); }
  template <class T>
  static void row(std::int64_t n, T* out, const T* a, const T*) {
    const T largest = *std::max_element(a, a + n);
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += out[i] = precise_exp(a[i] - largest);
    const T factor = 1 / sum;
    for (std::int64_t i = 0; i < n; ++i) out[i] *= factor;
  }
};

struct LogSoftmax {
  static auto simd_row() { return HWY_DYNAMIC_DISPATCH(log_softmax_row); }
  template <class T>
  static void row(std::int64_t n, T* out, const T* a, const T*) {
    const T largest = *std::max_element(a, a + n);
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += precise_exp(a[i] - largest);
    const T log_sum = std::log(sum);
    for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] - largest - log_sum;
  }
};

struct SoftmaxBackward {
  static auto simd_row() { return HWY_DYNAMIC_DISPATCH(softmax_backward_row); }
  template <class T>
  static void row(std::int64_t n, T* out, const T* grad, const T* y) {
    T dot = 0;
    for (std::int64_t i = 0; i < n; ++i) dot += grad[i] * y[i];
    for (std::int64_t i = 0; i < n; ++i) out[i] = y[i] * (grad[i] - dot);
  }
};

struct LogSoftmaxBackward {
  static auto simd_row() { return HWY_DYNAMIC_DISPATCH(log_softmax_backward_row); }
  template <class T>
  static void row(std::int64_t n, T* out, const T* grad, const T* y) {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += grad[i];
    for (std::int64_t i = 0; i < n; ++i) out[i] = grad[i] - precise_exp(y[i]) * sum;
  }
};

template <class Op, class T>
void compute_row(std::int64_t n, T* out, const T* a, const T* b) {
  if constexpr (std::same_as<T, float>) {
    if (n >= 16) return Op::simd_row()(static_cast<std::size_t>(n), out, a, b);
  }
  Op::row(n, out, a, b);
}

using RowLoop = StridedLoop<3>;

// Rows whose elements lie apart go through a buffer, several at a time: where rows lie side by
// side (softmax over dim 0), neighbours in memory are then read together.
template <class Op, class T>
void compute_apart(std::int64_t n, std::int64_t rows, RowLoop::Pointers p,
                   const RowLoop::Steps& row_step, const RowLoop::Steps& step) {
  constexpr std::int64_t kMostFloats = 32768;
  const std::int64_t group = std::clamp<std::int64_t>(kMostFloats / n, 1, 16);
  const Array buffer = Array::empty({3, group, n}, dtype_of<T>());
  T* const lines = buffer.data<T>();
  for (std::int64_t row = 0; row < rows; row += group) {
    const std::int64_t count = std::min(group, rows - row);
    const auto at = [&](std::size_t k, std::int64_t r, std::int64_t i) -> T& {
      return *reinterpret_cast<T*>(p[k] + (row + r) * row_step[k] + i * step[k]);
    };
    const auto line = [&](std::size_t k, std::int64_t r) {
      return lines + (static_cast<std::int64_t>(k) * group + r) * n;
    };
    for (std::size_t k = 1; k < 3; ++k) {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t r = 0; r < count; ++r) line(k, r)[i] = at(k, r, i);
      }
    }
    for (std::int64_t r = 0; r < count; ++r) compute_row<Op>(n, line(0, r), line(1, r), line(2, r));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t r = 0; r < count; ++r) at(0, r, i) = line(0, r)[i];
    }
  }
}

template <class Op, class T>
void for_rows(const std::array<Array, 3>& arrays, std::int64_t dim) {
  const std::int64_t n = arrays[0].shape()[dim];
  if (arrays[0].numel() == 0) return;
  std::array<Array, 3> heads;  // the first element of every row
  RowLoop::Steps step;
  for (std::size_t k = 0; k < 3; ++k) {
    heads[k] = arrays[k].select(dim, 0);
    step[k] = item_size(dtype_of<T>()) * (n == 1 ? 1 : arrays[k].strides()[dim]);
  }
  const bool contiguous =
      std::all_of(step.begin(), step.end(), [](auto bytes) { return bytes == sizeof(T); });
  RowLoop({&heads[0], &heads[1], &heads[2]})
      .run(
          [&](std::int64_t rows, const auto& p, const auto& row_step) {
            if (!contiguous) return compute_apart<Op, T>(n, rows, p, row_step, step);
            for (std::int64_t r = 0; r < rows; ++r) {
              const auto at = [&](std::size_t k) {
                return reinterpret_cast<T*>(p[k] + r * row_step[k]);
              };
              compute_row<Op>(n, at(0), at(1), at(2));
            }
          },
          std::max<std::int64_t>(1, kElementGrain / n));
}

template <class Op>
void run(std::string_view operation, const Array& out, const Array& a, const Array& b,
         std::int64_t dim) {
  dim = wrap_dim(operation, dim, out.rank());
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool is_0d = out.rank() == 0;
    const auto as_row = [&](const Array& x) { return is_0d ? x.unsqueeze(0) : x; };
    for_rows<Op, T>({as_row(out), as_row(a), as_row(b)}, dim);
  });
}

}  // namespace

void softmax(const Array& out, const Array& a, std::int64_t dim) {
  run<Softmax>("softmax", out, a, a, dim);
}
void log_softmax(const Array& out, const Array& a, std::int64_t dim) {
  run<LogSoftmax>("log_softmax", out, a, a, dim);
}
void softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim) {
  run<SoftmaxBackward>("softmax_backward", out, grad, y, dim);
}
void log_softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim) {
  run<LogSoftmaxBackward>("log_softmax_backward", out, grad, y, dim);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
