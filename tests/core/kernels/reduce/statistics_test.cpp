#include <tend/core/kernels/reduce/statistics.h>

#include <limits>

#include <tend/core/kernels/reduce/reduce.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/kernels/reduce/groups.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

TEST_CASE("var is accurate far from zero") {
  const DType dtype = GENERATE(float32, float64);
  const double correction = GENERATE(0.0, 1.0, 2.5);
  for (const Shape& shape : {Shape{50}, Shape{20, 30}, Shape{2, 30, 4}}) {
    const Array numbers = random_array(shape, int64);
    const Array near = Array::empty(shape, dtype);
    for (std::int64_t i = 0; i < near.numel(); ++i) {  // all numbers are exact in float32
      const double value = static_cast<double>(numbers.data<std::int64_t>()[i] + 1000000);
      visit_floating("test", dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        near.data<T>()[i] = static_cast<T>(value);
      });
    }
    for (const Array& a : layouts(near)) {
      for (const Shape& dims : subsets(a.rank())) {
        const Array out = Array::empty(reduced_shape(shape, dims, false), dtype);
        kernels::var(out, a, dims, correction);
        const std::vector<double> got = out.to(float64).to_vector<double>();
        const auto groups = groups_of(a, dims);
        for (std::size_t i = 0; i < groups.size(); ++i) {
          const double count = static_cast<double>(groups[i].size());
          const double mean = exact_sum(groups[i]) / count;
          std::vector<double> squares;
          for (const double x : groups[i]) squares.push_back((x - mean) * (x - mean));
          const double divisor = std::max(0.0, count - correction);
          const double want = exact_sum(squares) / divisor;
          // Allows for the error of the sum, and for the roundings of each square and of the
          // quotient. The mean's rounding error is squared in the variance, so it is negligible.
          const double bound =
              (sum_bound(squares, unit_of(dtype)) / divisor + 4 * unit_of(dtype) * want);
          CAPTURE(shape, dims, i, got[i], want, bound);
          if (std::isfinite(want)) CHECK(std::abs(got[i] - want) <= bound);
          if (std::isnan(want)) CHECK(std::isnan(got[i]));
          if (std::isinf(want)) CHECK(got[i] == want);
        }
      }
    }
  }
  const Array out = Array::empty({}, dtype);
  CHECK_THROWS_MATCHES(kernels::var(out, Array::zeros({3}, int64), {0}), DTypeError,
                       Message("[var] needs float32 or float64, got int64"));
}

TEST_CASE("var and moments are right for infinities and for sums or squares that overflow") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto var_of = [](const Array& a) {
    const Array out = Array::empty({}, a.dtype());
    kernels::var(out, a, {0}, 1);
    return out.item<double>();
  };
  // float32 can represent the variance, but not the sum of 4096 squares. 2^-20 is allowed for the
  // errors of the sum and of the result.
  const Array wide = Array::empty({4096}, float32);
  for (std::int64_t i = 0; i < 4096; ++i) wide.data<float>()[i] = i % 2 == 0 ? 1e18F : -1e18F;
  CHECK(std::abs(var_of(wide) / (1e36 * 4096 / 4095) - 1) <= 0x1p-20);
  CHECK(var_of(Array::full({3}, 9e307, float64)) == 0);
  CHECK_FALSE(std::isnan(var_of(Array::full({2000}, 1.7e305, float64))));
  for (const DType dtype : {float32, float64}) {
    for (const std::int64_t place : {0, 1, 20, 99}) {
      const Array a = Array::full({100}, 2, dtype), mean = Array::empty({}, dtype),
                  variance = Array::empty({}, dtype);
      a.select(0, place).fill(kInf);
      kernels::moments(mean, variance, a, {0});
      CAPTURE(dtype, place);
      CHECK(mean.item<double>() == kInf);
      CHECK(std::isnan(variance.item<double>()));
      a.select(0, 50).fill(-kInf);
      kernels::moments(mean, variance, a, {0});
      CHECK(std::isnan(mean.item<double>()));
    }
  }
}

TEST_CASE("log_sum_exp is accurate if the exponentials overflow or underflow") {
  const DType dtype = GENERATE(float32, float64);
  const double far = GENERATE(0.0, 1000.0, -1000.0);
  for (const Shape& shape : {Shape{50}, Shape{20, 30}, Shape{2, 1100, 4}}) {
    const Array moved = Array::empty(shape, float64);
    moved.copy_from(random_array(shape, float64));
    for (std::int64_t i = 0; i < moved.numel(); ++i) moved.data<double>()[i] += far;
    for (const Array& a : layouts(moved.to(dtype))) {
      for (const Shape& dims : subsets(a.rank())) {
        CAPTURE(shape, a.strides(), dims, dtype, far);
        const Array out = Array::empty(reduced_shape(shape, dims, false), dtype);
        kernels::log_sum_exp(out, a, dims);
        const std::vector<double> got = out.to(float64).to_vector<double>();
        const auto groups = groups_of(a, dims);
        for (std::size_t i = 0; i < groups.size(); ++i) {
          std::vector<double> powers;
          for (const double x : groups[i]) powers.push_back(std::exp(x - far));
          const double want = std::log(exact_sum(powers)) + far;
          // Allows for the relative error of the sum, for 4 units in the exponentials, and for the
          // roundings of the result and of the number that is subtracted from the elements.
          const double bound = sum_bound(powers, unit_of(dtype)) / exact_sum(powers) +
                               unit_of(dtype) * (4 + 2 * std::abs(want));
          CHECK(std::abs(got[i] - want) <= bound);
        }
      }
    }
  }
}
