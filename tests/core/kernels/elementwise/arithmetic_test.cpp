#include <tend/core/kernels/elementwise/arithmetic.h>

#include <cmath>
#include <limits>

#include "tests/core/kernels.h"
#include "tests/core/ulps.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

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

template <class T, class F>
void check_binary(Binary kernel, F f, const Shape& shape, const Shape& a_shape,
                  const Shape& b_shape) {
  const Array a = random_array(a_shape, dtype_of<T>(), 1);
  const Array b = random_array(b_shape, dtype_of<T>(), 2);
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    if (b.data<T>()[i] == 0) b.data<T>()[i] = 3;  // also a divisor
  }
  INFO(dtype_name(a.dtype()) << " " << a_shape << " and " << b_shape);
  check_in_every_layout(reference_map<T, T, T>(shape, f, a, b), kernel, a, b);
}

template <class T, class F>
void check_binary(Binary kernel, F f) {
  check_binary<T>(kernel, f, {3, 5, 7}, {3, 5, 7}, {3, 5, 7});
  check_binary<T>(kernel, f, {3, 5, 7}, {3, 1, 7}, {5, 1});
  check_binary<T>(kernel, f, {3, 5}, {}, {3, 5});
  check_binary<T>(kernel, f, {3, 5}, {3, 5}, {});
  check_binary<T>(kernel, f, {}, {}, {});
  check_binary<T>(kernel, f, {3, 0, 2}, {3, 0, 2}, {1, 2});
  check_binary<T>(kernel, f, {150, 300}, {150, 300}, {300});  // more than one chunk
}

}  // namespace

TEMPLATE_TEST_CASE("arithmetic is what its definition says, in every layout", "[kernels]",
                   std::int64_t, float, double) {
  using T = TestType;
  check_binary<T>(kernels::add, [](T x, T y) { return x + y; });
  check_binary<T>(kernels::sub, [](T x, T y) { return x - y; });
  check_binary<T>(kernels::mul, [](T x, T y) { return x * y; });
  check_binary<T>(kernels::maximum, [](T x, T y) { return x > y ? x : y; });
  check_binary<T>(kernels::minimum, [](T x, T y) { return x < y ? x : y; });
  const auto floored = [](T x, T y) {
    return static_cast<T>(std::floor(static_cast<double>(x) / static_cast<double>(y)));
  };
  check_binary<T>(kernels::floor_divide, floored);
  check_binary<T>(kernels::remainder, [](T x, T y) {
    const T rest = static_cast<T>(std::fmod(x, y));
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  });
  check_binary<T>(kernels::fmod, [](T x, T y) { return static_cast<T>(std::fmod(x, y)); });
  if constexpr (std::is_floating_point_v<T>) {
    check_binary<T>(kernels::div, [](T x, T y) { return x / y; });
  }
  const Array a = random_array({4, 6, 5}, dtype_of<T>());
  check_in_every_layout(reference_map<T, T>(
                            a.shape(), [](T x) { return -x; }, a),
                        kernels::neg, a);
  check_in_every_layout(reference_map<T, T>(
                            a.shape(), [](T x) { return x < 0 ? -x : x; }, a),
                        kernels::abs, a);
  check_in_every_layout(reference_map<T, T>(
                            a.shape(), [](T x) { return T(x > 0) - T(x < 0); }, a),
                        kernels::sign, a);
}

TEST_CASE("on bool, add is or and mul is and", "[kernels]") {
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

TEST_CASE("an integer to a negative power is truncated", "[kernels]") {
  CHECK(values<std::int64_t>(kernels::pow, {1, -1, -1, 2, 0, 7, 0}, {-5, -2, -3, -1, -1, 0, 0}) ==
        std::vector{1L, 1L, -1L, 0L, 0L, 1L, 1L});
}

TEMPLATE_TEST_CASE("floating division rounds as Python rounds", "[kernels]", float, double) {
  using T = TestType;
  const auto inf = T(kInf), nan = T(kNaN);
  // The results are those of PyTorch 1.13.
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
  // 1 / 0.1 rounds to 10, though 0.1 is a little more than a tenth.
  CHECK(values<T>(kernels::floor_divide, {1}, {T(0.1)}) == std::vector{T(9)});
}

TEST_CASE("floor_divide agrees with exact arithmetic where the quotient rounds up", "[kernels]") {
  const Array a = random_array({2000}, float32, 3), b = random_array({2000}, float32, 4);
  const Array multiples = Array::empty({2000}, float32), out = Array::empty({2000}, float32);
  for (int i = 0; i < 2000; ++i)
    multiples.data<float>()[i] = a.data<float>()[i] * static_cast<float>(i);
  kernels::floor_divide(out, multiples, a);
  for (int i = 0; i < 2000; ++i) {
    const double exact =
        static_cast<double>(multiples.data<float>()[i]) / static_cast<double>(a.data<float>()[i]);
    // The quotient of two floats, an integer or not, is further from one than double's rounding.
    REQUIRE(static_cast<double>(out.data<float>()[i]) == std::floor(exact));
  }
}

TEMPLATE_TEST_CASE("NaN passes through maximum and minimum from either side", "[kernels]", float,
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

TEST_CASE("add_scaled multiplies, rounds and adds", "[kernels]") {
  // (1 + e)^2 = 1 + 2 e + e^2 loses its last term when it is rounded; a fused sum would keep it.
  const float a = 1 + 0x1p-12F;
  const Array out = Array::empty({1}, float32);
  kernels::add_scaled(out, array_of<float>({-1 - 0x1p-11F}), array_of<float>({a}), double{a});
  CHECK(out.item<float>() == 0);

  const Array integers = Array::empty({2}, int64);
  kernels::add_scaled(integers, array_of<std::int64_t>({10, kMax}), array_of<std::int64_t>({5, 1}),
                      2.9);
  CHECK(integers.to_vector<std::int64_t>() == std::vector{20L, kMin + 1});

  const Array truths = Array::empty({4}, boolean);
  const Array x = array_of<bool>({false, false, true, true});
  const Array y = array_of<bool>({false, true, false, true});
  kernels::add_scaled(truths, x, y, 1);
  CHECK(truths.to_vector<bool>() == std::vector{false, true, true, true});
  kernels::add_scaled(truths, x, y, 0);
  CHECK(truths.to_vector<bool>() == std::vector{false, false, true, true});

  const Array p = random_array({4, 5}, float64, 1), q = random_array({5}, float64, 2);
  const auto f = [](double u, double v) { return u + -0.3 * v; };
  const auto kernel = [](const Array& o, const Array& u, const Array& v) {
    kernels::add_scaled(o, u, v, -0.3);
  };
  check_in_every_layout(reference_map<double, double, double>(p.shape(), f, p, q), kernel, p, q);
}

TEST_CASE("an integer zero divisor is an error before anything is written", "[kernels]") {
  const Array a = array_of<std::int64_t>({1, 2, 3});
  const Array b = array_of<std::int64_t>({2, 0, 1});
  CHECK_THROWS_MATCHES(kernels::remainder(a, a, b), Error,
                       Message("[remainder] integer division by zero: the divisor of shape (3,) "
                               "holds a 0"));
  CHECK_THROWS_MATCHES(kernels::floor_divide(a, a, b), Error,
                       Message("[floor_divide] integer division by zero: the divisor of shape (3,) "
                               "holds a 0"));
  CHECK(a.to_vector<std::int64_t>() == std::vector{1L, 2L, 3L});
  CHECK_THROWS_AS(kernels::remainder(a, a, Array::scalar(0, int64)), Error);

  kernels::remainder(a.slice(0, 0, 2), a.slice(0, 0, 2), b.slice(0, 0, 3, 2));  // around the zero
  CHECK(a.to_vector<std::int64_t>() == std::vector{1L, 0L, 3L});
  const Array none = Array::empty({0}, int64);
  CHECK_NOTHROW(kernels::floor_divide(none, none, Array::scalar(0, int64)));
}

TEST_CASE("arithmetic names the dtypes that it does not take", "[kernels]") {
  const Array truth = array_of<bool>({true});
  const Array integer = array_of<std::int64_t>({1});
  const auto message = [](std::string_view name, std::string_view needs, std::string_view got) {
    return Message(as_text('[', name, "] needs ", needs, ", got ", got));
  };
  struct Row {
    std::string_view name;
    Binary kernel;
  };
  for (const auto& [name, kernel] :
       {Row{"sub", kernels::sub}, Row{"pow", kernels::pow}, Row{"remainder", kernels::remainder},
        Row{"floor_divide", kernels::floor_divide}}) {
    CHECK_THROWS_MATCHES(kernel(truth, truth, truth), DTypeError,
                         message(name, "int64, float32 or float64", "bool"));
  }
  CHECK_THROWS_MATCHES(kernels::div(integer, integer, integer), DTypeError,
                       message("div", "float32 or float64", "int64"));
  CHECK_THROWS_MATCHES(kernels::neg(truth, truth), DTypeError,
                       message("neg", "int64, float32 or float64", "bool"));
  CHECK_THROWS_MATCHES(kernels::abs(truth, truth), DTypeError,
                       message("abs", "int64, float32 or float64", "bool"));
}

TEMPLATE_TEST_CASE("lerp meets both ends exactly, and broadcasts", "[kernels]", float, double) {
  using T = TestType;
  const Array a = random_array({4, 1, 5}, dtype_of<T>(), 1);
  const Array b = random_array({3, 5}, dtype_of<T>(), 2);
  const Array w = random_array({3, 1}, dtype_of<T>(), 3);
  const auto blend = [](T x, T y, T v) {
    return std::abs(v) < T(0.5) ? x + v * (y - x) : y - (y - x) * (1 - v);
  };
  check_in_every_layout(reference_map<T, T, T, T>({4, 3, 5}, blend, a, b, w), kernels::lerp, a, b,
                        w);
  // 0.1 + 1 (1e8 - 0.1) is no more than 1e8 in float32, but 1e8 + 1 (0.1 - 1e8) is 0.
  const auto at = [](double from, double to, double weight) {
    const Array out = Array::empty({}, dtype_of<T>());
    kernels::lerp(out, Array::scalar(from, out.dtype()), Array::scalar(to, out.dtype()),
                  Array::scalar(weight, out.dtype()));
    return out.template item<T>();
  };
  CHECK(at(0.1, 1e8, 0) == T(0.1));
  CHECK(at(0.1, 1e8, 1) == T(1e8));
  CHECK(at(1e8, 0.1, 1) == T(0.1));
  const Array integer = array_of<std::int64_t>({1});
  CHECK_THROWS_MATCHES(kernels::lerp(integer, integer, integer, integer), DTypeError,
                       Message("[lerp] needs float32 or float64, got int64"));
}
