// Tests the error bounds stated in layer_norm.h and cross_entropy.h on every SIMD target.
#include <algorithm>
#include <cmath>
#include <limits>

#include <tend/core/kernels/rows/cross_entropy.h>
#include <tend/core/kernels/rows/layer_norm.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

using Row = std::vector<long double>;

template <class T>
constexpr long double kUnit = std::numeric_limits<T>::epsilon() / 2;

Row row_of(const Array& matrix, std::int64_t r) {
  Row row;
  for (const double x : matrix.select(0, r).to(float64).to_vector<double>()) row.push_back(x);
  return row;
}

template <class F>
long double sum_of(std::size_t n, F f) {
  long double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += f(i);
  return sum;
}

// The largest error so far, as a multiple of the allowed error.
class Worst {
 public:
  void add(long double got, long double exact, long double allowed) {
    const long double error = std::abs(got - exact);
    if (error == 0) return;
    const auto part = static_cast<double>(error / allowed);
    worst_ = std::isnan(part) ? std::numeric_limits<double>::infinity() : std::max(worst_, part);
  }
  double value() const { return worst_; }

 private:
  double worst_ = 0;
};

constexpr std::array<std::int64_t, 12> kLengths{1, 2, 3, 15, 16, 17, 31, 33, 48, 100, 768, 5000};

struct NormCase {
  Array a, weight, bias, grad;
  bool centred;
};

// Three rows near zero, and three rows far from it.
template <class T>
NormCase norm_case(std::int64_t n, bool centred) {
  const auto random = [](const Shape& shape, std::uint32_t seed) {
    return random_array(shape, dtype_of<T>(), seed);
  };
  NormCase c{random({6, n}, 1), random({n}, 2), random({n}, 3), random({6, n}, 4), centred};
  for (std::int64_t i = 3 * n; i < 6 * n; ++i) c.a.data<T>()[i] += 100;
  return c;
}

// The allowed error of a sum of n elements, in units of the sum of their magnitudes.
long double sum_error(std::size_t n) {
  const auto count = static_cast<long double>(n);
  return n < 16 ? count : count / 4 + 4;
}

constexpr double kEps = 1e-5;

template <class T>
double worst_forward(const NormCase& c) {
  const Shape rows{c.a.shape()[0]};
  const Array out = Array::empty(c.a.shape(), c.a.dtype()), rstd = Array::empty(rows, c.a.dtype());
  if (c.centred) {
    kernels::layer_norm(out, Array::empty(rows, c.a.dtype()), rstd, c.a, c.weight, c.bias, kEps);
  } else {
    kernels::rms_norm(out, rstd, c.a, c.weight, kEps);
  }
  Worst worst;
  const Row weight = row_of(c.weight.reshape({1, -1}), 0),
            bias = row_of(c.bias.reshape({1, -1}), 0);
  for (std::int64_t r = 0; r < rows[0]; ++r) {
    const Row a = row_of(c.a, r), got = row_of(out, r);
    const std::size_t n = a.size();
    const auto count = static_cast<long double>(n);
    const long double mean = c.centred ? sum_of(n, [&](auto i) { return a[i]; }) / count : 0;
    const long double variance =
        sum_of(n, [&](auto i) { return (a[i] - mean) * (a[i] - mean); }) / count;
    const long double scale = 1 / std::sqrt(variance + static_cast<T>(kEps));
    const long double s = sum_error(n);
    for (std::size_t i = 0; i < n; ++i) {
      const long double x = (a[i] - mean) * scale * weight[i];
      const long double y = x + (c.centred ? bias[i] : 0);
      const long double centring =
          c.centred ? (std::abs(mean) * scale + s + 2) * std::abs(weight[i]) : 0;
      worst.add(got[i], y, kUnit<T> * (centring + (s / 2 + 7) * std::abs(x) + std::abs(y)));
    }
  }
  return worst.value();
}

template <class T>
double worst_backward(const NormCase& c) {
  const std::int64_t rows = c.a.shape()[0], n = c.a.shape()[1];
  const Array mean = Array::full({rows}, 0, c.a.dtype()), rstd = Array::empty({rows}, c.a.dtype());
  const Array out = Array::empty(c.a.shape(), c.a.dtype());
  const Array grad_weight = Array::empty({n}, c.a.dtype());
  const Array grad_bias = Array::full({n}, 0, c.a.dtype());
  if (c.centred) {
    kernels::layer_norm(out, mean, rstd, c.a, c.weight, c.bias, kEps);
    kernels::layer_norm_backward(out, grad_weight, grad_bias, c.grad, c.a, mean, rstd, c.weight);
  } else {
    kernels::rms_norm(out, rstd, c.a, c.weight, kEps);
    kernels::rms_norm_backward(out, grad_weight, c.grad, c.a, rstd, c.weight);
  }
  Worst worst;
  const auto width = static_cast<std::size_t>(n);
  const auto count = static_cast<long double>(n);
  const Row weight = row_of(c.weight.reshape({1, -1}), 0);
  Row weight_sums(width), weight_sizes(width), bias_sums(width), bias_sizes(width);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Row a = row_of(c.a, r), g = row_of(c.grad, r), got = row_of(out, r);
    const long double m = mean.data<T>()[r], scale = rstd.data<T>()[r];
    const auto x = [&](std::size_t i) { return (a[i] - m) * scale; };
    const auto weighted = [&](std::size_t i) { return g[i] * weight[i]; };
    const long double first = c.centred ? sum_of(width, weighted) / count : 0;
    const long double first_size =
        c.centred ? sum_of(width, [&](auto i) { return std::abs(weighted(i)); }) / count : 0;
    const long double second = sum_of(width, [&](auto i) { return weighted(i) * x(i); }) / count;
    const long double second_size =
        sum_of(width, [&](auto i) { return std::abs(weighted(i) * x(i)); }) / count;
    for (std::size_t i = 0; i < width; ++i) {
      const long double size = std::abs(weighted(i)) + first_size + std::abs(x(i)) * second_size;
      worst.add(got[i], (weighted(i) - first - x(i) * second) * scale,
                kUnit<T> * (sum_error(width) + 10) * scale * size);
      weight_sums[i] += g[i] * x(i);
      weight_sizes[i] += std::abs(g[i] * x(i));
      bias_sums[i] += g[i];
      bias_sizes[i] += std::abs(g[i]);
    }
  }
  const Row got_weight = row_of(grad_weight.reshape({1, -1}), 0);
  const Row got_bias = row_of(grad_bias.reshape({1, -1}), 0);
  const long double unit = kUnit<T> * (static_cast<long double>(rows) + 4);
  for (std::size_t i = 0; i < width; ++i) {
    worst.add(got_weight[i], weight_sums[i], unit * weight_sizes[i]);
    if (c.centred) worst.add(got_bias[i], bias_sums[i], unit * bias_sizes[i]);
  }
  return worst.value();
}

template <class T>
void check_cross_entropy(std::int64_t n, double smoothing) {
  const std::int64_t items = 4;
  const DType dtype = dtype_of<T>();
  const Array logits = random_array({items, n}, dtype, 1), scale = random_array({items}, dtype, 2);
  for (std::int64_t i = 0; i < logits.numel(); ++i) logits.data<T>()[i] *= 10;
  const Array labels = Array::full({items}, 3, int64), ignored = Array::full({items}, 0, boolean);
  const Array losses = Array::empty({items}, dtype), largest = Array::empty({items}, dtype);
  const Array sums = Array::empty({items}, dtype), out = Array::empty({items, n}, dtype);
  const double on = 1 - smoothing, off = smoothing / static_cast<double>(n);
  kernels::cross_entropy(losses, largest, sums, logits, labels, ignored, on, off);
  kernels::cross_entropy_backward(out, scale, logits, labels, largest, sums, on, off);
  Worst worst_loss, worst_gradient;
  for (std::int64_t item = 0; item < items; ++item) {
    const Row x = row_of(logits, item), got = row_of(out, item);
    const std::size_t width = x.size();
    const auto count = static_cast<long double>(n);
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const long double top = *high, spread = top - *low;
    const long double sum = sum_of(width, [&](auto i) { return expl(x[i] - top); });
    const long double steps = (std::is_same_v<T, float> ? count / 4 : count) + 7;
    const auto minus_log = [&](std::size_t i) { return logl(sum) - (x[i] - top); };
    const long double loss = on * minus_log(3) + off * sum_of(width, minus_log);
    worst_loss.add(losses.data<T>()[item], loss,
                   kUnit<T> * steps * (1 + spread + logl(count)) * (on + count * off));
    const long double cotangent = scale.data<T>()[item];
    for (std::size_t i = 0; i < width; ++i) {
      const long double p = expl(x[i] - top) / sum, at_label = i == 3 ? on : 0;
      worst_gradient.add(
          got[i], cotangent * (p - off - at_label),
          kUnit<T> * std::abs(cotangent) * (p * (2 * spread + steps + 1) + 3 * (off + at_label)));
    }
  }
  CHECK(worst_loss.value() <= 1);
  CHECK(worst_gradient.value() <= 1);
}

}  // namespace

TEMPLATE_TEST_CASE("layer_norm and rms_norm and their gradients keep their error bounds",
                   "[kernels][simd]", float, double) {
  for_each_simd_target([](const std::string& target) {
    for (const std::int64_t n : kLengths) {
      for (const bool centred : {true, false}) {
        INFO((centred ? "layer_norm" : "rms_norm") << " of " << n << ", " << target);
        const NormCase c = norm_case<TestType>(n, centred);
        CHECK(worst_forward<TestType>(c) <= 1);
        CHECK(worst_backward<TestType>(c) <= 1);
      }
    }
  });
}

TEMPLATE_TEST_CASE("cross_entropy and its gradient keep their error bounds", "[kernels][simd]",
                   float, double) {
  for_each_simd_target([](const std::string& target) {
    for (const std::int64_t n : kLengths) {
      if (n < 16) continue;  // another kernel computes short rows
      for (const double smoothing : {0.0, 0.1}) {
        INFO(n << " classes, smoothing " << smoothing << ", " << target);
        check_cross_entropy<TestType>(n, smoothing);
      }
    }
  });
}
