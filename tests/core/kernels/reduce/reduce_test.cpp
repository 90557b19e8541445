#include <tend/core/kernels/reduce/arg_reduce.h>
#include <tend/core/kernels/reduce/reduce.h>

#include <cmath>
#include <limits>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/reduce/statistics.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/kernels/reduce/groups.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

using Kernel = void (*)(const Array&, const Array&, const Shape&);

Array reduce(Kernel kernel, const Array& a, const Shape& dims, DType dtype, bool keepdim = false) {
  Array out = Array::full(reduced_shape(a.shape(), dims, keepdim), 1, dtype);
  kernel(out, a, dims);
  return out;
}

Array sum_of(const Array& a, const Shape& dims) {
  return reduce(kernels::sum, a, dims, kernels::sum_dtype(a.dtype()));
}

void check_sums(const Array& got, const Array& a, const Shape& dims) {
  const auto groups = groups_of(a, dims);
  const std::vector<double> values = got.to(float64).to_vector<double>();
  REQUIRE(values.size() == groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double want = exact_sum(groups[i]), bound = sum_bound(groups[i], unit_of(a.dtype()));
    if (!(std::abs(values[i] - want) <= bound))
      FAIL("sum " << i << ": " << values[i] << " for " << want << " +- " << bound);
  }
}

}  // namespace

TEST_CASE("long sums are accurate over rows and columns and all elements") {
  const DType dtype = GENERATE(float32, float64);
  for (const Shape& shape :
       {Shape{1000003}, Shape{3, 100000}, Shape{100000, 3}, Shape{2, 5000, 70}, Shape{1000, 300}}) {
    // All numbers are positive. A sum from left to right would exceed the error bound.
    const Array a = random_array(shape, dtype);
    for (std::int64_t i = 0; i < a.numel(); ++i)
      visit_floating("test", dtype, [&](auto tag) {
        auto& x = a.data<typename decltype(tag)::type>()[i];
        x = std::abs(x);
      });
    for (const Shape& dims : subsets(a.rank())) {
      CAPTURE(shape, dims, dtype);
      check_sums(sum_of(a, dims), a, dims);
    }
    const Shape last = {a.rank() - 1};
    check_sums(sum_of(layouts(a).back(), last), a, last);
  }
}

TEST_CASE("long sums over strided numbers are accurate") {
  // In a sum from left to right, rounding errors of the same sign would accumulate. Only 1000
  // additions would give an error of 1e-5 of the sum.
  const Array a = Array::full({1000000, 2}, 0.1, float32).select(1, 0);
  const double sum = sum_of(a, {0}).item<double>();
  CHECK(std::abs(sum - 1e6 * static_cast<double>(0.1F)) < 0.1);
}

TEST_CASE("sums of fewer than 16 numbers are computed from left to right") {
  const Array a = random_array({15, 3, 5}, float32);
  for (const Array& x : layouts(a)) {
    for (const Shape& dims : {Shape{0}, Shape{1, 2}, Shape{1}, Shape{2}}) {
      std::vector<float> want;
      for (const auto& group : groups_of(x, dims)) {
        float sum = 0;
        for (const double value : group) sum += static_cast<float>(value);
        want.push_back(sum);
      }
      CAPTURE(x.strides(), dims);
      CHECK(sum_of(x, dims).to_vector<float>() == want);
    }
  }
}

TEST_CASE("sums and products of bool and int64 are int64 and wrap around") {
  CHECK(sum_of(Array::full({3, 100}, true, boolean), {0, 1}).item<std::int64_t>() == 300);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const Array big = array_of<std::int64_t>({kMax, 1});
  CHECK(sum_of(big, {0}).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(reduce(kernels::prod, array_of<std::int64_t>({kMax, 2}), {0}, int64).item<std::int64_t>() ==
        -2);
  CHECK(
      reduce(kernels::prod, array_of<bool>({true, true, false}), {0}, int64).item<std::int64_t>() ==
      0);
}

TEST_CASE("max and min are NaN if any element is NaN") {
  const DType dtype = GENERATE(float32, float64);
  for (const std::int64_t length : {3, 40, 1000}) {
    for (const std::int64_t place : {std::int64_t{0}, length / 2, length - 1}) {
      const Array a = random_array({length, 2}, dtype);
      a.select(0, place).select(0, 1).fill(NAN);
      for (const Array& x : layouts(a)) {
        for (const Kernel kernel : {&kernels::amax, &kernels::amin}) {
          const std::vector<double> got =
              reduce(kernel, x, {0}, dtype).to(float64).to_vector<double>();
          CHECK(!std::isnan(got[0]));
          CHECK(std::isnan(got[1]));
        }
      }
    }
  }
  const Array infinite = Array::full({40}, -INFINITY, dtype);
  CHECK(reduce(kernels::amax, infinite, {0}, dtype).item<double>() == -INFINITY);
}

TEST_CASE("reductions have the same bits on every target") {
  for (const DType dtype : {float32, float64}) {
    const Array a = random_array({7, 90, 70}, dtype);
    a.select(0, 3).select(0, 5).fill(std::numeric_limits<double>::quiet_NaN());
    for (const Shape& dims : {Shape{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}) {
      for (const auto kernel : {kernels::sum, kernels::amax, kernels::amin, kernels::mean}) {
        const auto reduced = [&] {
          Array out = Array::empty(reduced_shape(a.shape(), dims, false), dtype);
          kernel(out, a, dims);
          return out;
        };
        const Array expected = reduced();
        for_each_simd_target([&](const std::string& target) {
          INFO(target << " " << dtype_name(dtype) << " over " << dims);
          CHECK(same_bits(reduced(), expected));
        });
      }
    }
    const Array squares = random_array({4000}, dtype), product = Array::empty({4000}, dtype);
    kernels::mul(product, squares, squares);
    const Array total = Array::empty({}, dtype);
    kernels::sum(total, product, {0});
    for_each_simd_target(
        [&](const std::string&) { CHECK(kernels::square_sum(squares) == total.item<double>()); });
  }
}

TEST_CASE("argmax and argmin return the index of the first NaN") {
  const Array a = array_of<float>({1, NAN, 3, NAN, -1});
  const Array value = Array::empty({}, float32), out = Array::empty({}, int64);
  kernels::argmax(out, a, 0);
  CHECK(out.item<std::int64_t>() == 1);
  kernels::argmin(out, a, std::nullopt);
  CHECK(out.item<std::int64_t>() == 1);
  kernels::max(value, out, a, 0);
  CHECK(std::isnan(value.item<float>()));
  CHECK(out.item<std::int64_t>() == 1);

  // Strided inputs and outputs, and an input that begins with NaN.
  const Array lines = array_of<float>({1, 9, NAN, 9, NAN, 9, NAN, 9, 1, 9, 2, 9}).view({2, 6});
  const Array gaps = lines.slice(1, 0, 6, 2), found = Array::full({2, 2}, 7, int64);
  kernels::argmax(found.select(1, 0), gaps, 1);
  kernels::argmin(found.select(1, 1), gaps, 1);
  CHECK(found.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 0, 0});
}

TEST_CASE("a reduction has the same bits alone and in a batch") {
  // Outside of a batch, a few long sums are divided into segments for several threads. In the case
  // 5001 x 4 x 7, rows end within blocks.
  const auto var = [](const Array& out, const Array& a, const Shape& dims) {
    kernels::var(out, a, dims);
  };
  const Kernel kernel =
      GENERATE_COPY(Kernel(kernels::sum), Kernel(kernels::mean), Kernel(kernels::square_sum),
                    Kernel(kernels::log_sum_exp), Kernel(var));
  const auto check = [&](const Array& one, const Shape& dims) {
    Shape many = one.shape();
    many[0] = 17;
    const Array batch = one.expand(many).contiguous();
    const Array alone = reduce(kernel, one, dims, one.dtype());
    const Array all = reduce(kernel, batch, dims, one.dtype());
    CAPTURE(one.shape(), dims);
    CHECK(same_bits(all.narrow(0, 16, 1), alone));
  };
  for (const DType dtype : {float32, float64}) {
    check(random_array({1, 3000, 40}, dtype, 1), {1});
    check(random_array({1, 20001, 10}, dtype, 2), {1});
    check(random_array({1, 300'007}, dtype, 3), {1});
    check(random_array({1, 5001, 4, 7}, dtype, 4), {1, 3});
    check(random_array({1, 200, 4, 1500}, dtype, 5), {1, 3});
  }
}
