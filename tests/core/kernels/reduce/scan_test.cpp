#include <tend/core/kernels/reduce/scan.h>

#include <limits>
#include <numeric>

#include <tend/core/kernels/reduce/reduce.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;

namespace {

Array cumsum(const Array& a, std::int64_t dim) {
  Array out = Array::full(a.shape(), 7, kernels::sum_dtype(a.dtype()));
  kernels::cumsum(out, a, dim);
  return out;
}

Array cumprod(const Array& a, std::int64_t dim) {
  Array out = Array::full(a.shape(), 7, kernels::sum_dtype(a.dtype()));
  kernels::cumprod(out, a, dim);
  return out;
}

}  // namespace

TEST_CASE("cumsum adds up along any dimension, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape : {Shape{6}, Shape{4, 50}, Shape{3, 5, 7}}) {
    for (const Array& a : layouts(random_array(shape, dtype))) {
      for (std::int64_t dim = 0; dim < a.rank(); ++dim) {
        CAPTURE(shape, a.strides(), dim, dtype);
        std::vector<std::vector<double>> want = lines_of(a, dim);
        for (auto& line : want) {
          std::partial_sum(line.begin(), line.end(), line.begin());
          // Rounded once, from sums in double.
          if (dtype == float32) {
            for (double& x : line) x = static_cast<float>(x);
          }
        }
        CHECK(lines_of(cumsum(a, dim), dim) == want);
      }
    }
  }
}

TEST_CASE("cumprod multiplies along any dimension, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Array& a : layouts(random_array({3, 5, 7}, dtype))) {
    for (std::int64_t dim = 0; dim < a.rank(); ++dim) {
      CAPTURE(a.strides(), dim, dtype);
      std::vector<std::vector<double>> want = lines_of(a, dim);
      for (auto& line : want) {
        std::partial_sum(line.begin(), line.end(), line.begin(), std::multiplies<>());
        // Rounded once, from products in double.
        if (dtype == float32) {
          for (double& x : line) x = static_cast<float>(x);
        }
      }
      CHECK(lines_of(cumprod(a, dim), dim) == want);
    }
  }
  CHECK(cumprod(Array::scalar(3, int64), 0).item<std::int64_t>() == 3);
}

TEST_CASE("cumsum of a number, of nothing, and past the largest int64") {
  CHECK(cumsum(Array::full({}, 3, float32), 0).item<float>() == 3);
  CHECK(cumsum(Array::empty({0, 3}, float32), 0).numel() == 0);
  CHECK(cumsum(Array::empty({3, 0}, float32), 1).numel() == 0);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(cumsum(array_of<std::int64_t>({kMax, 1}), 0).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{kMax, std::numeric_limits<std::int64_t>::min()});
}

TEST_CASE("cumsum has the same bits for any number of threads") {
  const Array a = random_array({300, 400}, float32);
  for (const std::int64_t dim : {0, 1}) {
    CHECK(same_bits_for_any_thread_count([&] { return cumsum(a, dim); }));
  }
}
