#include <tend/core/kernels/elementwise/masking.h>

#include <cmath>
#include <limits>

#include "tests/core/kernels.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

namespace {

const auto kMaskedFill = [](const Scalar& value) {
  return [value](const Array& out, const Array& a, const Array& mask) {
    kernels::masked_fill(out, a, mask, value);
  };
};

std::vector<double> clamped(const Array& a, const std::optional<Scalar>& lo,
                            const std::optional<Scalar>& hi) {
  const Array out = Array::empty(a.shape(), a.dtype());
  kernels::clamp(out, a, lo, hi);
  return out.to(float64).to_vector<double>();
}

}  // namespace

TEMPLATE_TEST_CASE("where and masked_fill choose element by element, in every layout", "[kernels]",
                   bool, std::int64_t, float, double) {
  using T = TestType;
  const auto choose = [](bool c, T x, T y) { return c ? x : y; };
  const std::array<std::array<Shape, 4>, 6> cases{{
      {Shape{3, 5, 7}, Shape{3, 5, 7}, Shape{3, 5, 7}, Shape{3, 5, 7}},
      {Shape{3, 5, 7}, Shape{5, 1}, Shape{3, 1, 7}, Shape{}},
      {Shape{2, 3, 4, 4}, Shape{4, 4}, Shape{2, 3, 4, 4}, Shape{4}},
      {Shape{}, Shape{}, Shape{}, Shape{}},
      {Shape{3, 0, 2}, Shape{2}, Shape{3, 0, 2}, Shape{}},
      {Shape{150, 300}, Shape{300}, Shape{150, 300}, Shape{150, 1}},  // more than one chunk
  }};
  for (const auto& [shape, condition_shape, a_shape, b_shape] : cases) {
    const Array condition = random_array(condition_shape, boolean, 3);
    const Array a = random_array(a_shape, dtype_of<T>(), 1);
    const Array b = random_array(b_shape, dtype_of<T>(), 2);
    INFO(shape << " " << dtype_name(a.dtype()));
    check_in_every_layout(reference_map<T, bool, T, T>(shape, choose, condition, a, b),
                          kernels::where, condition, a, b);
    const auto fill = [](T x, bool hidden) { return hidden ? T(1) : x; };
    check_in_every_layout(reference_map<T, T, bool>(shape, fill, a, condition), kMaskedFill(1), a,
                          condition);
  }
}

TEST_CASE("masked_fill converts its value and keeps what it does not fill", "[kernels]") {
  const Array mask = array_of<bool>({true, false, true});
  const Array a = array_of<float>({0, NAN, 2});
  kernels::masked_fill(a, a, mask, -kInf);
  CHECK(a.data<float>()[0] == -kInf);
  CHECK(std::isnan(a.data<float>()[1]));
  CHECK(a.data<float>()[2] == -kInf);
  const Array b = array_of<std::int64_t>({5, 6, 7});
  kernels::masked_fill(b, b, mask, -1.9);
  CHECK(b.to_vector<std::int64_t>() == std::vector{-1L, 6L, -1L});
}

TEMPLATE_TEST_CASE("tril and triu keep one side of a diagonal", "[kernels]", bool, std::int64_t,
                   float, double) {
  using T = TestType;
  for (const Shape& shape :
       {Shape{4, 4}, Shape{3, 5}, Shape{2, 3, 5, 2}, Shape{0, 3}, Shape{2, 3, 0}, Shape{1, 1}}) {
    const Array a = random_array(shape, dtype_of<T>());
    const std::int64_t rows = a.size(-2), columns = a.size(-1);
    constexpr auto kFar = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t diagonal : {-kFar - 1, -9L, -2L, -1L, 0L, 1L, 3L, 9L, kFar}) {
      INFO(shape << " diagonal " << diagonal);
      const Array lower = a.clone(), upper = a.clone();
      for (std::int64_t i = 0; i < a.numel(); ++i) {
        const std::int64_t row = i / columns % rows, column = i % columns;
        if (column - row > diagonal) lower.data<T>()[i] = 0;
        if (column - row < diagonal) upper.data<T>()[i] = 0;
      }
      const auto tril = [=](const Array& out, const Array& x) { kernels::tril(out, x, diagonal); };
      const auto triu = [=](const Array& out, const Array& x) { kernels::triu(out, x, diagonal); };
      check_in_every_layout(lower, tril, a);
      check_in_every_layout(upper, triu, a);
    }
  }
}

TEST_CASE("tril and triu replace what is not finite", "[kernels]") {
  const Array a = Array::full({2, 2}, -kInf, float32);
  kernels::triu(a, a, 1);
  CHECK(a.to_vector<float>() == std::vector<float>{0, -INFINITY, 0, 0});
}

TEST_CASE("tril and triu need a matrix", "[kernels]") {
  const Array a = array_of<float>({1, 2, 3});
  CHECK_THROWS_MATCHES(kernels::tril(a, a, 0), ShapeError,
                       Message("[tril] needs at least 2 dimensions, got shape (3,)"));
  CHECK_THROWS_MATCHES(kernels::triu(a.select(0, 0), a.select(0, 0), 0), ShapeError,
                       Message("[triu] needs at least 2 dimensions, got shape ()"));
}

TEMPLATE_TEST_CASE("clamp bounds every element, in every layout", "[kernels]", std::int64_t, float,
                   double) {
  using T = TestType;
  const double low = std::is_integral_v<T> ? -20 : -0.5, high = std::is_integral_v<T> ? 10 : 0.25;
  const auto f = [=](T x) { return std::min(std::max(x, T(low)), T(high)); };
  for (const Shape& shape : {Shape{4, 3, 5}, Shape{}, Shape{0, 2}, Shape{150, 300}}) {
    const Array a = random_array(shape, dtype_of<T>());
    check_in_every_layout(
        reference_map<T, T>(shape, f, a),
        [=](const Array& out, const Array& x) { kernels::clamp(out, x, low, high); }, a);
  }
}

TEST_CASE("clamp takes one bound or two, and the upper one wins", "[kernels]") {
  const Array a = array_of<std::int64_t>({-3, 0, 3});
  CHECK(clamped(a, -1, std::nullopt) == std::vector<double>{-1, 0, 3});
  CHECK(clamped(a, std::nullopt, 1) == std::vector<double>{-3, 0, 1});
  CHECK(clamped(a, 2, 1) == std::vector<double>{1, 1, 1});
  CHECK(clamped(array_of<bool>({false, true}), true, std::nullopt) == std::vector<double>{1, 1});
  CHECK_THROWS_MATCHES(kernels::clamp(a, a, std::nullopt, std::nullopt), Error,
                       Message("[clamp] needs a lower or an upper bound"));
}

TEMPLATE_TEST_CASE("clamp passes NaN on, of elements and of bounds", "[kernels]", float, double) {
  using T = TestType;
  const Array a = array_of<T>({T(kNaN), T(kInf), T(-kInf), T(0.5)});
  const std::vector<double> bounded = clamped(a, 0, 1);
  CHECK(std::isnan(bounded[0]));
  CHECK(std::vector(bounded.begin() + 1, bounded.end()) == std::vector{1.0, 0.0, 0.5});
  for (const auto& result : {clamped(a, kNaN, 1), clamped(a, 0, kNaN)}) {
    for (const double x : result) CHECK(std::isnan(x));
  }
}

TEMPLATE_TEST_CASE("nan_to_num replaces what is not finite, in every layout", "[kernels]", float,
                   double) {
  using T = TestType;
  const Array a = random_array({4, 5}, dtype_of<T>());
  a.data<T>()[3] = T(kNaN), a.data<T>()[7] = T(kInf), a.data<T>()[11] = T(-kInf);
  const auto f = [](T x) {
    return std::isnan(x) ? T(0.5) : std::isinf(x) ? (x > 0 ? T(2) : T(-3)) : x;
  };
  const auto kernel = [](const Array& out, const Array& x) {
    kernels::nan_to_num(out, x, 0.5, 2, -3);
  };
  check_in_every_layout(reference_map<T, T>(a.shape(), f, a), kernel, a);
}

TEST_CASE("clamp by arrays may write where a bound lies") {
  for (const DType dtype : {float32, int64}) {
    const std::array<double, 3> bounds{1, 5, 3};
    const Array high = Array::from(std::span<const double>(bounds), {3}).to(dtype);
    const Array a = Array::full({3}, 9, dtype), low = Array::full({3}, 0, dtype);
    kernels::clamp(high, a, low, high);
    CHECK(high.to(float64).to_vector<double>() == std::vector<double>{1, 5, 3});
  }
}
