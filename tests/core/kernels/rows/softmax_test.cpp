#include <tend/core/kernels/rows/softmax.h>

#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/numbers.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

// Calls kernel(out, inputs...) for every layout of the output and the inputs. Also calls the kernel
// in place: each input with the right shape and dtype is once the output. Each result must have the
// same bits as `expected`.
template <class Kernel, class... Arrays>
void check_in_every_layout(const Array& expected, Kernel kernel, const Arrays&... inputs) {
  for (const Array& out : layouts(expected)) {
    for (std::size_t variant = 0; variant < 4; ++variant) {
      const auto laid_out = [&](const Array& x) {
        const std::vector<Array> all = layouts(x);
        return all[std::min(variant, all.size() - 1)];
      };
      out.fill(1);
      kernel(out, laid_out(inputs)...);
      INFO("output strides " << out.strides() << ", layout " << variant << " of the inputs");
      CHECK(same_bits(out, expected));
    }
  }
  const std::array originals{inputs...};
  for (std::size_t k = 0; k < originals.size(); ++k) {
    if (originals[k].shape() != expected.shape() || originals[k].dtype() != expected.dtype())
      continue;
    std::array copies{inputs.clone()...};
    std::apply([&](const auto&... x) { kernel(copies[k], x...); }, copies);
    INFO("in place of input " << k);
    CHECK(same_bits(copies[k], expected));
  }
}

using Forward = void (*)(const Array&, const Array&, std::int64_t);
using Backward = void (*)(const Array&, const Array&, const Array&, std::int64_t);

const std::array<Forward, 2> kForwards{kernels::softmax, kernels::log_softmax};
const std::array<Backward, 2> kBackwards{kernels::softmax_backward, kernels::log_softmax_backward};

Array applied(Forward kernel, const Array& a, std::int64_t dim = -1) {
  Array out = Array::full(a.shape(), -7, a.dtype());
  kernel(out, a, dim);
  return out;
}

Array applied(Backward kernel, const Array& grad, const Array& y, std::int64_t dim = -1) {
  Array out = Array::full(grad.shape(), -7, grad.dtype());
  kernel(out, grad, y, dim);
  return out;
}

// One row in long double. Each value has a bound for the rounding error, in units of epsilon / 2.
struct Exact {
  std::vector<long double> values, bounds;
};

// The allowed error of a sum of n terms. The terms of a float32 row are added in at least four
// lanes. Other terms are added from left to right.
template <class T>
long double sum_error(std::size_t n, bool in_lanes = true) {
  return static_cast<long double>(n) / (in_lanes && std::is_same_v<T, float> ? 4 : 1) + 4;
}

template <class T>
Exact exact_forward(const std::vector<T>& a, bool logarithm, bool in_lanes = true) {
  const long double largest = *std::max_element(a.begin(), a.end());
  long double sum = 0;
  for (const T x : a) sum += expl(x - largest);
  Exact out;
  for (const T x : a) {
    // The argument of exp is rounded. The result of exp has an error of one ulp (two units), and so
    // has the product. A logarithm is rounded once more.
    const long double y = x - largest - logl(sum);
    const long double error = largest - x + 4 + sum_error<T>(a.size(), in_lanes);
    out.values.push_back(logarithm ? y : expl(y));
    out.bounds.push_back(logarithm ? error + largest - x + 3 * logl(sum) : error * expl(y));
  }
  return out;
}

template <class T>
Exact exact_backward(const std::vector<T>& grad, const std::vector<T>& y, bool logarithm,
                     bool in_lanes = true) {
  long double sum = 0, sizes = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double term = static_cast<long double>(grad[i]) * (logarithm ? 1 : y[i]);
    sum += term;
    sizes += std::abs(term);
  }
  Exact out;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double g = grad[i], v = y[i], e = expl(v);
    out.values.push_back(logarithm ? g - e * sum : v * (g - sum));
    out.bounds.push_back(sum_error<T>(y.size(), in_lanes) *
                         (logarithm ? std::abs(g) + e * sizes : v * (std::abs(g) + sizes)));
  }
  return out;
}

template <class T>
void check_row(const Array& got, const Exact& exact) {
  const long double unit = std::numeric_limits<T>::epsilon() / 2;
  double worst = 0;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (got.data<T>()[i] == exact.values[k]) continue;  // equal infinities are right
    const long double error = std::abs(got.data<T>()[i] - exact.values[k]);
    const auto part = static_cast<double>(error / (unit * exact.bounds[k]));
    worst = std::isnan(part) ? kInf : std::max(worst, part);  // other infinities are wrong
  }
  CHECK(worst <= 1);
}

// The elements along `dim`, as rows of a matrix.
Array lines(const Array& x, std::int64_t dim) {
  return x.transpose(dim, -1).contiguous().reshape({x.numel() / x.shape()[dim], x.shape()[dim]});
}

template <class T>
void check_lines(const Array& a, const Array& got, std::int64_t dim, bool logarithm) {
  const Array from = lines(a, dim), to = lines(got, dim);
  for (std::int64_t i = 0; i < from.shape()[0]; ++i) {
    check_row<T>(to.select(0, i),
                 exact_forward(from.select(0, i).template to_vector<T>(), logarithm, false));
  }
}
template <class T>
void check_lines(const Array& grad, const Array& y, const Array& got, std::int64_t dim,
                 bool logarithm) {
  const Array cotangents = lines(grad, dim), values = lines(y, dim), to = lines(got, dim);
  for (std::int64_t i = 0; i < to.shape()[0]; ++i) {
    check_row<T>(to.select(0, i),
                 exact_backward(cotangents.select(0, i).template to_vector<T>(),
                                values.select(0, i).template to_vector<T>(), logarithm, false));
  }
}

bool all_nan(const Array& a) {
  const std::vector<double> values = a.to(float64).to_vector<double>();
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
}

}  // namespace

TEMPLATE_TEST_CASE("softmax and log_softmax and their gradients keep their error bounds",
                   "[kernels][simd]", float, double) {
  using T = TestType;
  for_each_simd_target([](const std::string& target) {
    for (const std::int64_t n : {1, 2, 3, 7, 15, 16, 17, 20, 31, 32, 33, 48, 65, 100, 1000, 5000}) {
      const Array a = random_array({n}, dtype_of<T>(), 1), grad = random_array({n}, a.dtype(), 2);
      for (std::int64_t i = 0; i < n; ++i) a.data<T>()[i] *= 8;
      INFO(n << " elements, " << target);
      for (const bool logarithm : {false, true}) {
        const Array y = applied(kForwards[logarithm], a);
        check_row<T>(y, exact_forward<T>(a.to_vector<T>(), logarithm));
        check_row<T>(applied(kBackwards[logarithm], grad, y),
                     exact_backward<T>(grad.to_vector<T>(), y.to_vector<T>(), logarithm));
      }
    }
  });
}

TEST_CASE("softmax of an example's attention scores has all 17 digits that PyTorch prints",
          "[kernels]") {
  const float inputs[6][3] = {{0.43F, 0.15F, 0.89F}, {0.55F, 0.87F, 0.66F}, {0.57F, 0.85F, 0.64F},
                              {0.22F, 0.58F, 0.33F}, {0.77F, 0.25F, 0.10F}, {0.05F, 0.80F, 0.55F}};
  const Array scores = Array::zeros({6}, float32);
  for (std::int64_t i = 0; i < 6; ++i) {
    for (int k = 0; k < 3; ++k) scores.data<float>()[i] += inputs[i][k] * inputs[1][k];
  }
  CHECK(applied(kernels::softmax, scores).to(float64).to_vector<double>() ==
        std::vector{0.13854756951332092, 0.2378913015127182, 0.23327402770519257,
                    0.12399158626794815, 0.10818186402320862, 0.15811361372470856});
}

TEMPLATE_TEST_CASE("softmax of short rows has the same bits in every layout and in place",
                   "[kernels]", float, double) {
  for (const Shape& shape :
       {Shape{3, 9, 15}, Shape{2, 3, 5, 4}, Shape{4, 2}, Shape{6}, Shape{1, 1}}) {
    const Array a = random_array(shape, dtype_of<TestType>(), 1);
    const Array grad = random_array(shape, a.dtype(), 2);
    for (std::int64_t dim = 0; dim < a.rank(); ++dim) {
      INFO(shape << " dim " << dim);
      // A row has the same bits in every layout. `expected` is computed along the last dimension.
      const auto last = [&](const Array& x) { return x.transpose(dim, -1).contiguous(); };
      for (const Forward kernel : kForwards) {
        const Array expected = applied(kernel, last(a)).transpose(dim, -1).contiguous();
        check_in_every_layout(
            expected, [=](const Array& out, const Array& x) { kernel(out, x, dim); }, a);
        CHECK(same_bits(applied(kernel, a, dim - a.rank()), expected));
      }
      for (const Backward kernel : kBackwards) {
        const Array expected = applied(kernel, last(grad), last(a)).transpose(dim, -1).contiguous();
        check_in_every_layout(
            expected,
            [=](const Array& out, const Array& g, const Array& y) { kernel(out, g, y, dim); }, grad,
            a);
      }
    }
  }
}

TEMPLATE_TEST_CASE("softmax of long rows keeps its error bounds in every layout and in place",
                   "[kernels][simd]", float, double) {
  using T = TestType;
  // The last shape has more columns than the kernel processes together, and several blocks of rows.
  for (const Shape& shape : {Shape{3, 20, 18}, Shape{2, 70, 5}, Shape{150, 1030}}) {
    const Array a = random_array(shape, dtype_of<T>(), 1), grad = random_array(shape, a.dtype(), 2);
    for (std::int64_t i = 0; i < a.numel(); ++i) a.data<T>()[i] *= 8;
    for (std::int64_t dim = 0; dim < a.rank(); ++dim) {
      if (shape[dim] < 16) continue;
      const bool logarithm = dim == 1;
      const Array y = applied(kForwards[logarithm], a, dim);
      check_lines<T>(a, y, dim, logarithm);
      const Array expected_grad = applied(kBackwards[logarithm], grad, y, dim);
      check_lines<T>(grad, y, expected_grad, dim, logarithm);
      const std::vector<Array> outs = layouts(a), inputs = layouts(a), grads = layouts(grad);
      for (std::size_t i = 0; i < outs.size(); ++i) {
        const std::size_t other = (i + 1) % outs.size();
        kForwards[logarithm](outs[i], inputs[other], dim);
        check_lines<T>(a, outs[i], dim, logarithm);
        kBackwards[logarithm](outs[i], grads[other], layouts(y)[1], dim);
        check_lines<T>(grad, y, outs[i], dim, logarithm);
      }
      const Array same = a.clone();
      kForwards[logarithm](same, same, dim);
      CHECK(same_bits(same, y));
      kBackwards[logarithm](same, grad, same, dim);
      CHECK(same_bits(same, expected_grad));
    }
  }
}

TEMPLATE_TEST_CASE("log_softmax keeps its error bound for elements that differ greatly",
                   "[kernels][simd]", float, double) {
  using T = TestType;
  for_each_simd_target([](const std::string& target) {
    INFO(target);
    for (const double scale : {100.0, 511.1022644042969, 1e4}) {
      for (const std::int64_t n : {15, 16, 100}) {
        const Array a = Array::full({n}, 1.4078369140625, dtype_of<T>());
        for (std::int64_t i = 0; i < n; i += 3) a.data<T>()[i] = static_cast<T>(-scale);
        check_row<T>(applied(kernels::log_softmax, a), exact_forward<T>(a.to_vector<T>(), true));
      }
    }
  });
}

TEST_CASE("a row of softmax does not depend on its neighbours", "[kernels][simd]") {
  for_each_simd_target([](const std::string& target) {
    INFO(target);
    const Array a = random_array({7, 37}, float32), all = applied(kernels::softmax, a);
    for (std::int64_t row = 0; row < 7; ++row)
      CHECK(same_bits(applied(kernels::softmax, a.select(0, row)), all.select(0, row)));
  });
}

// In the first case, rows of the input and of the result begin within cache lines. In the second
// case, only rows of the result do.
TEST_CASE("softmax of an array larger than the caches has the same bits as softmax of its parts",
          "[kernels]") {
  const Array part = random_array({64, 1001}, float32);
  const Array a = part.unsqueeze(0).expand({263, 64, 1001}).contiguous();
  const Array expected = applied(kernels::softmax, part), got = applied(kernels::softmax, a);
  for (std::int64_t i = 0; i < a.shape()[0]; i += 15) CHECK(same_bits(got.select(0, i), expected));

  const Array even = random_array({64, 1024}, float32);
  const Array all = even.unsqueeze(0).expand({257, 64, 1024}).contiguous();
  const Array apart = Array::empty({257, 64, 1040}, float32).narrow(2, 1, 1024);
  kernels::softmax(apart, all, -1);
  const Array wanted = applied(kernels::softmax, even);
  for (std::int64_t i = 0; i < all.shape()[0]; i += 16)
    CHECK(same_bits(apart.select(0, i).contiguous(), wanted));
}

TEMPLATE_TEST_CASE("softmax of a row whose maximum is NaN or infinite is NaN as in PyTorch",
                   "[kernels][simd]", float, double) {
  for_each_simd_target([](const std::string& target) {
    for (const std::int64_t n : {1, 5, 16, 19, 40}) {
      for (const auto& [everywhere, somewhere] :
           {std::pair{-kInf, -kInf}, std::pair{0.0, kInf}, std::pair{0.0, kNaN},
            std::pair{-kInf, kNaN}, std::pair{kInf, -kInf}}) {
        for (std::int64_t place = 0; place < n; ++place) {
          if (n == 1 && everywhere == kInf) continue;  // the first case tests a single -inf
          const Array a = random_array({3, n}, dtype_of<TestType>());
          const Array plain = a.clone();
          a.select(0, 1).fill(everywhere);
          a.select(0, 1).select(0, place).fill(somewhere);
          for (const Forward kernel : kForwards) {
            const Array y = applied(kernel, a), expected = applied(kernel, plain);
            INFO(n << " elements, " << everywhere << ", at " << place << ' ' << somewhere << ' '
                   << target);
            REQUIRE(all_nan(y.select(0, 1)));
            REQUIRE(same_bits(y.select(0, 0), expected.select(0, 0)));
            REQUIRE(same_bits(y.select(0, 2), expected.select(0, 2)));
          }
        }
      }
    }
  });
}

TEMPLATE_TEST_CASE("elements that are -inf get weight zero and do not change the other weights",
                   "[kernels][simd]", float, double) {
  for_each_simd_target([](const std::string& target) {
    for (const std::int64_t n : {4, 24, 40}) {
      INFO(n << " elements, " << target);
      const Array a = Array::full({n}, -kInf, dtype_of<TestType>());
      a.narrow(0, 1, 2).fill(3);
      const Array y = applied(kernels::softmax, a), log_y = applied(kernels::log_softmax, a);
      for (std::int64_t i = 0; i < n; ++i) {
        const bool shown = i == 1 || i == 2;
        CHECK(y.data<TestType>()[i] == (shown ? TestType(0.5) : 0));
        CHECK(log_y.data<TestType>()[i] == (shown ? -std::log(TestType(2)) : TestType(-kInf)));
      }
    }
  });
}

TEST_CASE("softmax over the columns of a matrix has the same bits at any position in a batch") {
  for (const auto& [n, columns] : {std::pair(64, 131), std::pair(20, 125), std::pair(100, 5)}) {
    const Array one = random_array({1, n, columns}, float32, 1);
    const Array batch = one.expand({30, n, columns}).contiguous();
    for (const Forward kernel : kForwards) {
      const Array alone = applied(kernel, one, 1), all = applied(kernel, batch, 1);
      for (std::int64_t i = 0; i < 30; ++i) {
        CAPTURE(n, columns, i);
        CHECK(same_bits(all.narrow(0, i, 1), alone));
      }
    }
  }
}
