#include <tend/core/kernels/indexing/shape_ops.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

TEST_CASE("cat puts arrays one after the other along any dimension, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (std::int64_t dim = 0; dim < 3; ++dim) {
    const auto part = [&](std::int64_t size, std::uint32_t seed) {
      Shape shape{3, 4, 5};
      shape[dim] = size;
      return random_array(shape, dtype, seed);
    };
    const Array a = part(2, 1), b = part(0, 2), c = part(6, 3);
    for (const Array& first : layouts(a)) {
      for (const Array& out : layouts(part(8, 4))) {
        kernels::cat(out, std::vector{first, b, c}, dim);
        CHECK(same_bits(out.narrow(dim, 0, 2), a));
        CHECK(same_bits(out.narrow(dim, 2, 6), c));
      }
    }
  }
}

TEST_CASE("cat converts, and leaves empty 1-d arrays out") {
  const Array out = Array::empty({3, 2}, float32);
  kernels::cat(out,
               std::vector{Array::full({1, 2}, 3, int64), Array::empty({0}, float32),
                           Array::full({2, 2}, true, boolean)},
               0);
  CHECK(out.to_vector<float>() == std::vector<float>{3, 3, 1, 1, 1, 1});
}

TEST_CASE("flip reads backwards along some dimensions, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Array a = random_array({3, 40, 50}, dtype, 1);
  for (const Shape& dims : {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{0, 2}, Shape{0, 1, 2}}) {
    const Array expected = Array::empty(a.shape(), dtype);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 40; ++j) {
        for (std::int64_t k = 0; k < 50; ++k) {
          Array from = a;
          std::int64_t d = 0;
          for (const std::int64_t at : {i, j, k}) {
            const bool flipped = std::find(dims.begin(), dims.end(), d++) != dims.end();
            from = from.select(0, flipped ? from.size(0) - 1 - at : at);
          }
          expected.select(0, i).select(0, j).select(0, k).copy_from(from);
        }
      }
    }
    for (const Array& x : layouts(a)) {
      for (const Array& out : layouts(expected)) {
        out.fill(0);
        kernels::flip(out, x, dims);
        CHECK(same_bits(out, expected));
      }
    }
  }
  const Array nothing = Array::empty({2, 0, 3}, dtype);
  kernels::flip(nothing, nothing.clone(), {0, 1});
}

TEST_CASE("arange counts from a start in steps") {
  const Array floats = Array::empty({1000}, float32);
  kernels::arange(floats, 0.1, 0.3);
  for (std::int64_t i = 0; i < 1000; ++i)
    CHECK(floats.data<float>()[i] == static_cast<float>(0.1 + static_cast<double>(i) * 0.3));
  const Array whole = Array::empty({4}, int64);
  kernels::arange(whole, 5, -3);
  CHECK(whole.to_vector<std::int64_t>() == std::vector<std::int64_t>{5, 2, -1, -4});
  // Beyond 2^53 doubles would skip numbers.
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
                       Message("[arange] does not give bool"));
}

TEST_CASE("linspace meets both ends") {
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
      // One rounding to the dtype, and a few of the double computation.
      CHECK(std::abs(got[i] - want) <= (dtype == float32 ? 0x1p-24 : 4 * 0x1p-53));
    }
  }
  CHECK_THROWS_MATCHES(kernels::linspace(Array::empty({2}, int64), 0, 1), DTypeError,
                       Message("[linspace] needs float32 or float64, got int64"));
}

TEST_CASE("eye has ones on the main diagonal") {
  for (const DType dtype : {float32, float64, int64, boolean}) {
    for (const Array& out : layouts(Array::full({2, 3}, 1, dtype))) {
      kernels::eye(out);
      CHECK(out.to(float64).to_vector<double>() == std::vector<double>{1, 0, 0, 0, 1, 0});
    }
  }
  const Array none = Array::empty({0, 3}, float32);
  kernels::eye(none);
  CHECK(none.numel() == 0);
}

TEST_CASE("flip refuses more dimensions than it counts, whichever are flipped") {
  Shape shape(std::vector<std::int64_t>(70, 1));
  shape[65] = 3;
  const Array a = random_array({3}, float32, 1).reshape(shape), out = Array::empty(shape, float32);
  CHECK_THROWS_WITH(kernels::flip(out, a, {65}),
                    Catch::Matchers::StartsWith("[flip] more than 64 dimensions"));
}
