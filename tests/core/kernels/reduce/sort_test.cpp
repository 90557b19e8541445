#include <tend/core/kernels/reduce/sort.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;

namespace {

struct Ranked {
  Array values, indices;
};

Ranked sort(const Array& a, std::int64_t dim, bool descending = false) {
  Ranked out{Array::empty(a.shape(), a.dtype()), Array::empty(a.shape(), int64)};
  kernels::sort(out.values, out.indices, a, dim, descending);
  return out;
}

Ranked topk(const Array& a, std::int64_t k, std::int64_t dim, bool largest = true) {
  Shape shape = a.shape();
  if (a.rank() > 0) shape[dim] = k;
  Ranked out{Array::empty(shape, a.dtype()), Array::empty(shape, int64)};
  kernels::topk(out.values, out.indices, a, k, dim, largest);
  return out;
}

}  // namespace

TEST_CASE("sort works along any dimension and is stable") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const bool descending = GENERATE(false, true);
  for (const Shape& shape : {Shape{7}, Shape{4, 300}, Shape{3, 5, 7}}) {
    // There are only a few different values, so many elements are equal.
    Array source = random_array(shape, int64);
    for (std::int64_t i = 0; i < source.numel(); ++i) source.data<std::int64_t>()[i] %= 5;
    for (const Array& a : layouts(source.to(dtype))) {
      for (std::int64_t dim = 0; dim < a.rank(); ++dim) {
        CAPTURE(shape, a.strides(), dim, descending, dtype);
        const auto lines = lines_of(a, dim);
        std::vector<std::vector<double>> values, indices;
        for (const auto& line : lines) {
          std::vector<std::size_t> order(line.size());
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
            return descending ? line[y] < line[x] : line[x] < line[y];
          });
          values.emplace_back();
          indices.emplace_back();
          for (const std::size_t i : order) {
            values.back().push_back(line[i]);
            indices.back().push_back(static_cast<double>(i));
          }
        }
        const Ranked got = sort(a, dim, descending);
        CHECK(lines_of(got.values, dim) == values);
        CHECK(lines_of(got.indices, dim) == indices);
        // topk returns the first k elements in the same order.
        const Ranked top = topk(a, 3, dim, descending);
        CHECK(same_bits(top.values, got.values.narrow(dim, 0, 3)));
        CHECK(same_bits(top.indices, got.indices.narrow(dim, 0, 3)));
      }
    }
  }
}

TEST_CASE("long arrays with zeros and infinities and NaN are sorted correctly") {
  const DType dtype = GENERATE(float32, float64, int64);
  const std::int64_t length = GENERATE(200, 255, 256, 5000);
  Array line = random_array({length}, float64);
  for (std::int64_t i = 0; i < length; ++i) {
    double& x = line.data<double>()[i];
    if (i % 7 == 0) x = 0;
    if (i % 14 == 0) x = -0.0;
    if (i % 5 == 0) x *= 1e6;
    if (dtype != int64 && i % 31 == 0) x = i % 62 == 0 ? INFINITY : -INFINITY;
    if (dtype != int64 && i % 33 == 0) x = NAN;
  }
  const Array a = line.to(dtype);
  const std::vector<double> values = a.to(float64).to_vector<double>();
  const bool descending = GENERATE(false, true);
  const auto less = [](double x, double y) { return x < y || (std::isnan(y) && !std::isnan(x)); };
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
    const double first = values[static_cast<std::size_t>(x)];
    const double second = values[static_cast<std::size_t>(y)];
    return descending ? less(second, first) : less(first, second);
  });
  CAPTURE(dtype, length, descending);
  const Ranked got = sort(a, 0, descending);
  CHECK(got.indices.to_vector<std::int64_t>() == order);
  for (std::int64_t i = 0; i < length; ++i) {  // same_bits also compares the signs of zeros
    const std::int64_t place = order[static_cast<std::size_t>(i)];
    CHECK(same_bits(got.values.select(0, i), a.select(0, place)));
  }
}
