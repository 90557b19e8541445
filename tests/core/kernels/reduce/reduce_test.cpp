#include <tend/core/kernels/reduce/arg_reduce.h>
#include <tend/core/kernels/reduce/reduce.h>

#include <cmath>
#include <functional>
#include <limits>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/reduce/statistics.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/kernels/reduce/groups.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

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

// Every result of `kernel` equals f of its elements.
void check_exactly(Kernel kernel, const Array& a, const Shape& dims, DType dtype,
                   const std::function<double(const std::vector<double>&)>& f) {
  const auto groups = groups_of(a, dims);
  std::vector<double> want;
  want.reserve(groups.size());
  for (const auto& group : groups) want.push_back(f(group));
  for (const bool keepdim : {false, true}) {
    CAPTURE(dims, keepdim, a.shape(), a.strides(), a.dtype());
    const Array got = reduce(kernel, a, dims, dtype, keepdim);
    CHECK(got.shape() == reduced_shape(a.shape(), dims, keepdim));
    CHECK(got.to(float64).to_vector<double>() == want);
  }
}

}  // namespace

TEST_CASE("sum over every set of dimensions, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{5}, Shape{40}, Shape{7, 30}, Shape{30, 7},
                             Shape{4, 1, 6}, Shape{3, 20, 18}, Shape{2, 3, 4, 5}}) {
    for (const Array& a : layouts(random_array(shape, dtype))) {
      for (const Shape& dims : subsets(a.rank())) {
        for (const bool keepdim : {false, true}) {
          CAPTURE(shape, a.strides(), dims, keepdim, dtype);
          const Array got =
              reduce(kernels::sum, a, dims, is_floating(dtype) ? dtype : int64, keepdim);
          check_sums(got, a, dims);
        }
      }
    }
  }
}

TEST_CASE("long sums are accurate along rows, columns and everything") {
  const DType dtype = GENERATE(float32, float64);
  for (const Shape& shape :
       {Shape{1000003}, Shape{3, 100000}, Shape{100000, 3}, Shape{2, 5000, 70}, Shape{1000, 300}}) {
    // Of one sign: added one after the other, these would err by more than the bound.
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

TEST_CASE("long sums of numbers with gaps are as accurate") {
  // Added one after the other, roundings to one side collect: 1000 of them to 1e-5 of the sum.
  const Array a = Array::full({1000000, 2}, 0.1, float32).select(1, 0);
  const double sum = sum_of(a, {0}).item<double>();
  CHECK(std::abs(sum - 1e6 * static_cast<double>(0.1F)) < 0.1);
}

TEST_CASE("sums under 16 numbers run from left to right") {
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

TEST_CASE("sums and products of bool and int64 are int64, and wrap around") {
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

TEST_CASE("prod, max, min, any and all over every set of dimensions, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape :
       {Shape{}, Shape{5}, Shape{40}, Shape{6, 30}, Shape{3, 20, 4}, Shape{2, 3, 4, 5}}) {
    // Small integers, whose products are exact in every order.
    const Array source = random_array(shape, int64);
    for (std::int64_t i = 0; i < source.numel(); ++i) {
      auto& x = source.data<std::int64_t>()[i];
      x = x % 7 == 0 ? 0 : x % 7 == 1 ? 2 : x % 2 == 0 ? 1 : -1;
    }
    for (const Array& a : layouts(source.to(dtype))) {
      for (const Shape& dims : subsets(a.rank())) {
        check_exactly(kernels::prod, a, dims, kernels::sum_dtype(dtype), [](const auto& x) {
          double product = 1;
          for (const double value : x) product *= value;
          return product;
        });
        check_exactly(kernels::amax, a, dims, dtype,
                      [](const auto& x) { return *std::max_element(x.begin(), x.end()); });
        check_exactly(kernels::amin, a, dims, dtype,
                      [](const auto& x) { return *std::min_element(x.begin(), x.end()); });
        check_exactly(kernels::any, a, dims, boolean, [](const auto& x) {
          return std::any_of(x.begin(), x.end(), [](double v) { return v != 0; });
        });
        check_exactly(kernels::all, a, dims, boolean, [](const auto& x) {
          return std::all_of(x.begin(), x.end(), [](double v) { return v != 0; });
        });
      }
    }
  }
}

TEST_CASE("max and min pass NaN on from any place") {
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

TEST_CASE("any holds NaN for true") {
  CHECK(reduce(kernels::any, array_of<float>({0, NAN}), {0}, boolean).item<bool>());
  CHECK(reduce(kernels::all, array_of<float>({1, NAN}), {0}, boolean).item<bool>());
}

TEST_CASE("reductions of nothing") {
  const Array none = Array::empty({0, 3}, float32);
  CHECK(sum_of(none, {0}).to_vector<float>() == std::vector<float>(3, 0));
  CHECK(reduce(kernels::prod, none, {0, 1}, float32).item<float>() == 1);
  CHECK(std::isnan(reduce(kernels::mean, none, {0, 1}, float32).item<float>()));
  CHECK_FALSE(reduce(kernels::any, none, {0, 1}, boolean).item<bool>());
  CHECK(reduce(kernels::all, none, {0, 1}, boolean).item<bool>());
  CHECK(sum_of(none, {1}).numel() == 0);
  CHECK(reduce(kernels::amax, none, {1}, float32).numel() == 0);
  CHECK_THROWS_MATCHES(reduce(kernels::amax, none, {0}, float32), ShapeError,
                       Message("[amax] dimension 0 of (0, 3) is empty"));
  CHECK_THROWS_MATCHES(reduce(kernels::amin, none, {0, 1}, float32), ShapeError,
                       Message("[amin] dimension 0 of (0, 3) is empty"));
}

TEST_CASE("mean divides the sum, and takes floating dtypes only") {
  const Array a = random_array({30, 40}, float32);
  const Array got = reduce(kernels::mean, a, {1}, float32), sums = sum_of(a, {1});
  for (std::int64_t i = 0; i < 30; ++i) CHECK(got.data<float>()[i] == sums.data<float>()[i] / 40);
  CHECK_THROWS_MATCHES(reduce(kernels::mean, a.to(int64), {1}, int64), DTypeError,
                       Message("[mean] needs float32 or float64, got int64"));
}

TEST_CASE("reductions have the same bits for any number of threads") {
  for (const Shape& shape :
       {Shape{300000}, Shape{20000, 30}, Shape{300, 700}, Shape{4, 2000, 40}}) {
    const Array a = random_array(shape, float32);
    for (const Shape& dims : subsets(a.rank())) {
      CAPTURE(shape, dims);
      CHECK(same_bits_for_any_thread_count([&] { return sum_of(a, dims); }));
    }
  }
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

TEST_CASE("argmax and argmin find the first best element along a dimension") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape : {Shape{7}, Shape{5, 40}, Shape{3, 4, 6}}) {
    for (const Array& a : layouts(random_array(shape, dtype))) {
      for (std::int64_t dim = 0; dim < a.rank(); ++dim) {
        std::vector<double> largest, smallest;
        for (const auto& x : groups_of(a, {dim})) {
          largest.push_back(static_cast<double>(std::max_element(x.begin(), x.end()) - x.begin()));
          smallest.push_back(static_cast<double>(std::min_element(x.begin(), x.end()) - x.begin()));
        }
        for (const bool keepdim : {false, true}) {
          CAPTURE(shape, a.strides(), dim, keepdim, dtype);
          const Shape out_shape = reduced_shape(shape, {dim}, keepdim);
          const Array values = Array::empty(out_shape, dtype),
                      indices = Array::empty(out_shape, int64);
          kernels::max(values, indices, a, dim);
          CHECK(indices.to(float64).to_vector<double>() == largest);
          CHECK(same_bits(values, reduce(kernels::amax, a, {dim}, dtype, keepdim)));
          kernels::min(values, indices, a, dim);
          CHECK(indices.to(float64).to_vector<double>() == smallest);
          CHECK(same_bits(values, reduce(kernels::amin, a, {dim}, dtype, keepdim)));
          kernels::argmax(indices, a, dim);
          CHECK(indices.to(float64).to_vector<double>() == largest);
          kernels::argmin(indices, a, dim);
          CHECK(indices.to(float64).to_vector<double>() == smallest);
        }
      }
    }
  }
}

TEST_CASE("argmax without a dimension counts row by row, whatever the strides") {
  const Array a = random_array({6, 7}, float32);
  const std::vector<float> flat = a.to_vector<float>();
  const auto want = std::max_element(flat.begin(), flat.end()) - flat.begin();
  const auto smallest = std::min_element(flat.begin(), flat.end()) - flat.begin();
  const Array out = Array::empty({}, int64), kept = Array::empty({1, 1}, int64);
  for (const Array& x : layouts(a)) {
    kernels::argmax(out, x, std::nullopt);
    CHECK(out.item<std::int64_t>() == want);
    kernels::argmin(kept, x, std::nullopt);
    CHECK(kept.item<std::int64_t>() == smallest);
  }
}

TEST_CASE("argmax and argmin take the first NaN") {
  const Array a = array_of<float>({1, NAN, 3, NAN, -1});
  const Array value = Array::empty({}, float32), out = Array::empty({}, int64);
  kernels::argmax(out, a, 0);
  CHECK(out.item<std::int64_t>() == 1);
  kernels::argmin(out, a, std::nullopt);
  CHECK(out.item<std::int64_t>() == 1);
  kernels::max(value, out, a, 0);
  CHECK(std::isnan(value.item<float>()));
  CHECK(out.item<std::int64_t>() == 1);

  // Lines with gaps, in a result with gaps, and a line that begins with NaN.
  const Array lines = array_of<float>({1, 9, NAN, 9, NAN, 9, NAN, 9, 1, 9, 2, 9}).view({2, 6});
  const Array gaps = lines.slice(1, 0, 6, 2), found = Array::full({2, 2}, 7, int64);
  kernels::argmax(found.select(1, 0), gaps, 1);
  kernels::argmin(found.select(1, 1), gaps, 1);
  CHECK(found.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1, 0, 0});
}

TEST_CASE("max and argmax of a number, and of nothing") {
  const Array number = Array::full({}, 2.5, float32), value = Array::empty({}, float32),
              out = Array::full({}, 7, int64), none = Array::empty({3, 0}, float32);
  kernels::max(value, out, number, 0);
  CHECK(value.item<float>() == 2.5F);
  CHECK(out.item<std::int64_t>() == 0);
  const Array three = Array::empty({3}, int64);
  CHECK_THROWS_MATCHES(kernels::argmax(three, none, 1), ShapeError,
                       Message("[argmax] dimension 1 of (3, 0) is empty"));
  CHECK_THROWS_MATCHES(kernels::argmin(out, none, std::nullopt), ShapeError,
                       Message("[argmin] (3, 0) has no elements"));
  CHECK_THROWS_MATCHES(kernels::min(Array::empty({3}, float32), three, none, 1), ShapeError,
                       Message("[min] dimension 1 of (3, 0) is empty"));
  const Array nowhere = Array::empty({0}, int64);
  kernels::argmax(nowhere, none, 0);
  CHECK(nowhere.numel() == 0);
}

TEST_CASE("a reduction has the same bits alone and in a batch") {
  // Alone, few sums are cut into segments for several threads. 5000 x 3 x 7 with gaps has rows that
  // end within blocks.
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
