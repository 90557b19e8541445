#include <tend/core/kernels/elementwise/arithmetic.h>

#include <cmath>
#include <limits>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/ulps.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

using Binary = void (*)(const Array&, const Array&, const Array&);
using Unary = void (*)(const Array&, const Array&);

template <class T>
std::vector<T> values(Binary kernel, std::initializer_list<T> a, std::initializer_list<T> b) {
  const Array out = Array::empty({static_cast<std::int64_t>(a.size())}, dtype_of<T>());
  kernel(out, array_of<T>(a), array_of<T>(b));
  return out.to_vector<T>();
}

template <class T>
std::vector<T> values(Unary kernel, std::initializer_list<T> a) {
  const Array out = Array::empty({static_cast<std::int64_t>(a.size())}, dtype_of<T>());
  kernel(out, array_of<T>(a));
  return out.to_vector<T>();
}

}  // namespace

TEST_CASE("add of bools is a logical or and mul is a logical and", "[kernels]") {
  const auto a = {false, false, true, true}, b = {false, true, false, true};
  CHECK(values<bool>(kernels::add, a, b) == std::vector{false, true, true, true});
  CHECK(values<bool>(kernels::mul, a, b) == std::vector{false, false, false, true});
  CHECK(values<bool>(kernels::maximum, a, b) == std::vector{false, true, true, true});
  CHECK(values<bool>(kernels::minimum, a, b) == std::vector{false, false, false, true});
  CHECK(values<bool>(kernels::sign, a) == std::vector{false, false, true, true});
}

TEST_CASE("integer arithmetic wraps around", "[kernels]") {
  CHECK(values<std::int64_t>(kernels::add, {kMax}, {1}) == std::vector{kMin});
  CHECK(values<std::int64_t>(kernels::sub, {kMin}, {1}) == std::vector{kMax});
  CHECK(values<std::int64_t>(kernels::mul, {kMin, kMax}, {-1, 2}) == std::vector{kMin, -2L});
  CHECK(values<std::int64_t>(kernels::neg, {kMin, 5}) == std::vector{kMin, -5L});
  CHECK(values<std::int64_t>(kernels::abs, {kMin, -5}) == std::vector{kMin, 5L});
  CHECK(values<std::int64_t>(kernels::remainder, {kMin}, {-1}) == std::vector{0L});
  CHECK(values<std::int64_t>(kernels::fmod, {kMin, -7, 7}, {-1, 3, -3}) ==
        std::vector{0L, -1L, 1L});
  CHECK(values<std::int64_t>(kernels::floor_divide, {kMin}, {-1}) == std::vector{kMin});
  CHECK(values<std::int64_t>(kernels::pow, {3, 2, -2}, {41, 64, 63}) ==
        std::vector{-420491770248316829L, 0L, kMin});  // 3^41 - 2^65
}

TEST_CASE("integer division rounds as Python rounds", "[kernels]") {
  CHECK(values<std::int64_t>(kernels::floor_divide, {7, -7, 7, -7, 6, -6, 0, 1},
                             {2, 2, -2, -2, 3, 3, -5, kMin}) ==
        std::vector{3L, -4L, -4L, 3L, 2L, -2L, 0L, -1L});
  CHECK(values<std::int64_t>(kernels::remainder, {7, -7, 7, -7, 6, -6, 0, 1},
                             {2, 2, -2, -2, 3, 3, -5, kMin}) ==
        std::vector{1L, 1L, -1L, -1L, 0L, 0L, 0L, kMin + 1});
}

TEMPLATE_TEST_CASE("floating division rounds as Python rounds", "[kernels]", float, double) {
  using T = TestType;
  const auto inf = T(kInf), nan = T(kNaN);
  // The expected results are from PyTorch 1.13.
  const auto a = {nan, inf, -inf, T(-0.0), T(2.5), T(-2.5)};
  const auto by = [&](Binary kernel, double b) {
    const T y = T(b);
    return values<T>(kernel, a, {y, y, y, y, y, y});
  };
  CHECK(identical<T>(by(kernels::remainder, 0), {nan, nan, nan, nan, nan, nan}));
  CHECK(identical<T>(by(kernels::remainder, 2), {nan, nan, nan, T(-0.0), T(0.5), T(1.5)}));
  CHECK(identical<T>(by(kernels::remainder, -2), {nan, nan, nan, T(-0.0), T(-1.5), T(-0.5)}));
  CHECK(identical<T>(by(kernels::remainder, kInf), {nan, nan, nan, T(-0.0), T(2.5), inf}));
  CHECK(identical<T>(by(kernels::floor_divide, 0), {nan, inf, -inf, nan, inf, -inf}));
  CHECK(identical<T>(by(kernels::floor_divide, 2), {nan, nan, nan, T(-0.0), T(1), T(-2)}));
  CHECK(identical<T>(by(kernels::floor_divide, kInf), {nan, nan, nan, T(-0.0), T(0), T(-1)}));
  // The floating number 0.1 is a little more than a tenth, so the floor is 9. The rounded quotient
  // 1 / 0.1 is 10.
  CHECK(values<T>(kernels::floor_divide, {1}, {T(0.1)}) == std::vector{T(9)});
}

TEST_CASE("floor_divide is exact even if the quotient is rounded up", "[kernels]") {
  const Array a = random_array({2000}, float32, 3), b = random_array({2000}, float32, 4);
  const Array multiples = Array::empty({2000}, float32), out = Array::empty({2000}, float32);
  for (int i = 0; i < 2000; ++i)
    multiples.data<float>()[i] = a.data<float>()[i] * static_cast<float>(i);
  kernels::floor_divide(out, multiples, a);
  for (int i = 0; i < 2000; ++i) {
    const double exact =
        static_cast<double>(multiples.data<float>()[i]) / static_cast<double>(a.data<float>()[i]);
    // double is precise enough: a quotient of two floats that is not an integer differs from every
    // integer by more than double's rounding error.
    REQUIRE(static_cast<double>(out.data<float>()[i]) == std::floor(exact));
  }
}

TEMPLATE_TEST_CASE("maximum and minimum are NaN if either argument is NaN", "[kernels]", float,
                   double) {
  using T = TestType;
  const auto inf = T(kInf), nan = T(kNaN);
  const auto a = {nan, T(1), nan, inf, -inf}, b = {T(1), nan, nan, T(1), T(1)};
  CHECK(identical<T>(values<T>(kernels::maximum, a, b), {nan, nan, nan, inf, T(1)}));
  CHECK(identical<T>(values<T>(kernels::minimum, a, b), {nan, nan, nan, T(1), -inf}));
  CHECK(
      identical<T>(values<T>(kernels::sign, {nan, inf, -inf, T(-0.0)}), {T(0), T(1), T(-1), T(0)}));
  CHECK(identical<T>(values<T>(kernels::neg, {nan, inf, T(0)}), {nan, -inf, T(-0.0)}));
  CHECK(identical<T>(values<T>(kernels::abs, {nan, -inf, T(-0.0)}), {nan, inf, T(0)}));
}
