#include <tend/core/kernels/elementwise/masking.h>

#include <cmath>
#include <limits>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;

namespace {

std::vector<double> clamped(const Array& a, const std::optional<Scalar>& lo,
                            const std::optional<Scalar>& hi) {
  const Array out = Array::empty(a.shape(), a.dtype());
  kernels::clamp(out, a, lo, hi);
  return out.to(float64).to_vector<double>();
}

}  // namespace

TEST_CASE("masked_fill converts its value and does not change the other elements", "[kernels]") {
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

TEST_CASE("triu replaces infinite elements by zeros", "[kernels]") {
  const Array a = Array::full({2, 2}, -kInf, float32);
  kernels::triu(a, a, 1);
  CHECK(a.to_vector<float>() == std::vector<float>{0, -INFINITY, 0, 0});
}

TEMPLATE_TEST_CASE("clamp is NaN if the element or a bound is NaN", "[kernels]", float, double) {
  using T = TestType;
  const Array a = array_of<T>({T(kNaN), T(kInf), T(-kInf), T(0.5)});
  const std::vector<double> bounded = clamped(a, 0, 1);
  CHECK(std::isnan(bounded[0]));
  CHECK(std::vector(bounded.begin() + 1, bounded.end()) == std::vector{1.0, 0.0, 0.5});
  for (const auto& result : {clamped(a, kNaN, 1), clamped(a, 0, kNaN)}) {
    for (const double x : result) CHECK(std::isnan(x));
  }
}

TEST_CASE("clamp by arrays may write into one of the bounds") {
  for (const DType dtype : {float32, int64}) {
    const std::array<double, 3> bounds{1, 5, 3};
    const Array high = Array::from(std::span<const double>(bounds), {3}).to(dtype);
    const Array a = Array::full({3}, 9, dtype), low = Array::full({3}, 0, dtype);
    kernels::clamp(high, a, low, high);
    CHECK(high.to(float64).to_vector<double>() == std::vector<double>{1, 5, 3});
  }
}
