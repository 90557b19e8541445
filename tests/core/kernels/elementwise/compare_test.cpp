#include <tend/core/kernels/elementwise/compare.h>

#include <limits>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;

namespace {

using Binary = void (*)(const Array&, const Array&, const Array&);
using Unary = void (*)(const Array&, const Array&);

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

TEMPLATE_TEST_CASE("comparisons with NaN are false except ne", "[kernels]", float, double) {
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
  const std::int64_t big = (std::int64_t{1} << 53) + 1;  // not representable as a double
  const Array a = array_of<std::int64_t>({big}), b = array_of<std::int64_t>({big - 1});
  CHECK(truths(kernels::eq, a, b) == std::vector{false});
  CHECK(truths(kernels::gt, a, b) == std::vector{true});
}

TEMPLATE_TEST_CASE("exactly one of isnan and isinf and isfinite is true for every number",
                   "[kernels]", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const Array a = array_of<T>({nan, -nan, inf, -inf, T(0), std::numeric_limits<T>::max(),
                               std::numeric_limits<T>::denorm_min()});
  CHECK(truths(kernels::isnan, a) == std::vector{true, true, false, false, false, false, false});
  CHECK(truths(kernels::isinf, a) == std::vector{false, false, true, true, false, false, false});
  CHECK(truths(kernels::isfinite, a) == std::vector{false, false, false, false, true, true, true});
}
