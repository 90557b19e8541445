#include <tend/core/kernels/indexing/shape_ops.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

TEST_CASE("arange gives the start plus multiples of the step") {
  const Array floats = Array::empty({1000}, float32);
  kernels::arange(floats, 0.1, 0.3);
  for (std::int64_t i = 0; i < 1000; ++i)
    CHECK(floats.data<float>()[i] == static_cast<float>(0.1 + static_cast<double>(i) * 0.3));
  const Array whole = Array::empty({4}, int64);
  kernels::arange(whole, 5, -3);
  CHECK(whole.to_vector<std::int64_t>() == std::vector<std::int64_t>{5, 2, -1, -4});
  // Above 2^53, doubles would skip numbers.
  constexpr std::int64_t kFar = (std::int64_t{1} << 60) + 1;
  kernels::arange(whole, kFar, 1);
  CHECK(whole.data<std::int64_t>()[3] == kFar + 3);
  const Array gaps = Array::zeros({8}, float64);
  kernels::arange(gaps.slice(0, 1, 8, 2), 1, 1);
  CHECK(gaps.to_vector<double>() == std::vector<double>{0, 1, 0, 2, 0, 3, 0, 4});
  const Array none = Array::empty({0}, float32);
  kernels::arange(none, 0, 1);
  CHECK(none.numel() == 0);
  CHECK_THROWS_MATCHES(kernels::arange(Array::empty({2}, boolean), 0, 1), DTypeError,
                       Message("[arange] the dtype must not be bool"));
}

TEST_CASE("linspace includes both ends exactly") {
  const DType dtype = GENERATE(float32, float64);
  for (const std::int64_t count : {1, 2, 3, 10, 1001}) {
    const Array out = Array::empty({count}, dtype);
    kernels::linspace(out, 0.1, 0.7);
    const std::vector<double> got = out.to(float64).to_vector<double>();
    const auto ends = [&](double x) { return dtype == float32 ? static_cast<float>(x) : x; };
    CHECK(got.front() == ends(0.1));
    if (count > 1) CHECK(got.back() == ends(0.7));
    for (std::size_t i = 0; i < got.size() && count > 1; ++i) {
      const double want = 0.1 + 0.6 * static_cast<double>(i) / static_cast<double>(count - 1);
      // One rounding to float32, or a few roundings of the computation in double.
      CHECK(std::abs(got[i] - want) <= (dtype == float32 ? 0x1p-24 : 4 * 0x1p-53));
    }
  }
  CHECK_THROWS_MATCHES(kernels::linspace(Array::empty({2}, int64), 0, 1), DTypeError,
                       Message("[linspace] needs float32 or float64, got int64"));
}
