#include <tend/core/kernels/elementwise/compare.h>

#include <cmath>
#include <limits>

#include "tests/core/kernels.h"

using namespace tend;
using namespace tend::test;

namespace {

using Binary = void (*)(const Array&, const Array&, const Array&);
using Unary = void (*)(const Array&, const Array&);

// Whole and half numbers, so that some elements of two arrays are equal and some are zero.
Array coarse_array(const Shape& shape, DType dtype, std::uint32_t seed) {
  Array a = random_array(shape, dtype, seed);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      T& x = a.data<T>()[i];
      if constexpr (std::is_floating_point_v<T>) x = std::round(2 * x) / 2;
      if constexpr (std::is_same_v<T, std::int64_t>) x /= 20;
    }
  });
  return a;
}

template <class T, class F>
void check_comparison(Binary kernel, F f) {
  const std::array<std::array<Shape, 3>, 6> cases{{
      {Shape{3, 5, 7}, Shape{3, 5, 7}, Shape{3, 5, 7}},
      {Shape{3, 5, 7}, Shape{3, 1, 7}, Shape{5, 1}},
      {Shape{4, 6}, Shape{}, Shape{4, 6}},
      {Shape{}, Shape{}, Shape{}},
      {Shape{3, 0, 2}, Shape{3, 0, 2}, Shape{2}},
      {Shape{150, 300}, Shape{300}, Shape{150, 300}},  // more than one chunk
  }};
  for (const auto& [shape, a_shape, b_shape] : cases) {
    const Array a = coarse_array(a_shape, dtype_of<T>(), 1);
    const Array b = coarse_array(b_shape, dtype_of<T>(), 2);
    INFO(dtype_name(a.dtype()) << " " << a_shape << " and " << b_shape);
    check_in_every_layout(reference_map<bool, T, T>(shape, f, a, b), kernel, a, b);
  }
}

std::vector<bool> truths(Binary kernel, const Array& a, const Array& b) {
  const Array out = Array::empty(a.shape(), boolean);
  kernel(out, a, b);
  return out.to_vector<bool>();
}

std::vector<bool> truths(Unary kernel, const Array& a) {
  const Array out = Array::empty(a.shape(), boolean);
  kernel(out, a);
  return out.to_vector<bool>();
}

}  // namespace

TEMPLATE_TEST_CASE("comparisons are what their definitions say, in every layout", "[kernels]", bool,
                   std::int64_t, float, double) {
  using T = TestType;
  check_comparison<T>(kernels::eq, [](T x, T y) { return x == y; });
  check_comparison<T>(kernels::ne, [](T x, T y) { return x != y; });
  check_comparison<T>(kernels::lt, [](T x, T y) { return x < y; });
  check_comparison<T>(kernels::le, [](T x, T y) { return x <= y; });
  check_comparison<T>(kernels::gt, [](T x, T y) { return x > y; });
  check_comparison<T>(kernels::ge, [](T x, T y) { return x >= y; });
  check_comparison<T>(kernels::logical_and, [](T x, T y) { return x != T(0) && y != T(0); });
  check_comparison<T>(kernels::logical_or, [](T x, T y) { return x != T(0) || y != T(0); });
  check_comparison<T>(kernels::logical_xor, [](T x, T y) { return (x != T(0)) != (y != T(0)); });
  const Array a = coarse_array({4, 3, 5}, dtype_of<T>(), 1);
  check_in_every_layout(reference_map<bool, T>(
                            a.shape(), [](T x) { return x == T(0); }, a),
                        kernels::logical_not, a);
}

TEMPLATE_TEST_CASE("comparisons with NaN are false, but for ne", "[kernels]", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const Array a = array_of<T>({nan, nan, T(1), inf, T(0)});
  const Array b = array_of<T>({nan, T(1), nan, inf, T(-0.0)});
  CHECK(truths(kernels::eq, a, b) == std::vector{false, false, false, true, true});
  CHECK(truths(kernels::ne, a, b) == std::vector{true, true, true, false, false});
  CHECK(truths(kernels::lt, a, b) == std::vector{false, false, false, false, false});
  CHECK(truths(kernels::le, a, b) == std::vector{false, false, false, true, true});
  CHECK(truths(kernels::gt, a, b) == std::vector{false, false, false, false, false});
  CHECK(truths(kernels::ge, a, b) == std::vector{false, false, false, true, true});
  CHECK(truths(kernels::logical_and, a, b) == std::vector{true, true, true, true, false});
  CHECK(truths(kernels::logical_not, a) == std::vector{false, false, false, false, true});
}

TEST_CASE("large integers are compared exactly", "[kernels]") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;  // no double
  const Array a = array_of<std::int64_t>({big}), b = array_of<std::int64_t>({big - 1});
  CHECK(truths(kernels::eq, a, b) == std::vector{false});
  CHECK(truths(kernels::gt, a, b) == std::vector{true});
}

TEMPLATE_TEST_CASE("isnan, isinf and isfinite divide the floating numbers", "[kernels]", float,
                   double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const Array a = array_of<T>({nan, -nan, inf, -inf, T(0), std::numeric_limits<T>::max(),
                               std::numeric_limits<T>::denorm_min()});
  CHECK(truths(kernels::isnan, a) == std::vector{true, true, false, false, false, false, false});
  CHECK(truths(kernels::isinf, a) == std::vector{false, false, true, true, false, false, false});
  CHECK(truths(kernels::isfinite, a) == std::vector{false, false, false, false, true, true, true});
  check_in_every_layout(array_of<bool>({true, false, false, true}, {2, 2}), kernels::isnan,
                        array_of<T>({nan, inf, T(1), nan}, {2, 2}));
}

TEST_CASE("integers and bools are finite", "[kernels]") {
  const Array integers = array_of<std::int64_t>({std::numeric_limits<std::int64_t>::min(), 0});
  for (const Array& a : {integers, array_of<bool>({true, false})}) {
    CHECK(truths(kernels::isnan, a) == std::vector{false, false});
    CHECK(truths(kernels::isinf, a) == std::vector{false, false});
    CHECK(truths(kernels::isfinite, a) == std::vector{true, true});
  }
}

TEMPLATE_TEST_CASE("bitwise operations work bit by bit, and are logic on bool", "[kernels]", bool,
                   std::int64_t) {
  using T = TestType;
  const Array a = random_array({4, 1, 5}, dtype_of<T>(), 1);
  const Array b = random_array({3, 1}, dtype_of<T>(), 2);
  const auto check = [&](Binary kernel, auto f) {
    const auto bits = [f](T x, T y) { return static_cast<T>(f(x, y)); };
    check_in_every_layout(reference_map<T, T, T>({4, 3, 5}, bits, a, b), kernel, a, b);
  };
  check(kernels::bitwise_and, [](T x, T y) { return x & y; });
  check(kernels::bitwise_or, [](T x, T y) { return x | y; });
  check(kernels::bitwise_xor, [](T x, T y) { return x ^ y; });
  const auto opposite = [](T x) { return std::is_same_v<T, bool> ? T(x == 0) : T(-x - 1); };
  check_in_every_layout(reference_map<T, T>(a.shape(), opposite, a), kernels::bitwise_not, a);
}

TEST_CASE("floats have no bits to combine", "[kernels]") {
  const Array a = array_of<float>({1});
  CHECK_THROWS_MATCHES(kernels::bitwise_or(a, a, a), DTypeError,
                       Catch::Matchers::Message("[bitwise_or] needs bool or int64, got float32"));
  CHECK_THROWS_MATCHES(kernels::bitwise_not(a, a), DTypeError,
                       Catch::Matchers::Message("[bitwise_not] needs bool or int64, got float32"));
}
