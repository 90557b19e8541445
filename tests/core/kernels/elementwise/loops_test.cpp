#include <cmath>
#include <limits>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/compare.h>
#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/masking.h>

#include "tests/core/kernels.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

// Larger than a tile in both directions, equal to it, smaller, and just one element more.
const std::vector<Shape> kMatrices{{70, 130}, {64, 32}, {9, 8}, {33, 65}, {8, 200}, {3, 2}};

// `shape` transposed in memory: its first dimension lies closest.
Array transposed(const Shape& shape, DType dtype, std::uint32_t seed) {
  return random_array({shape[1], shape[0]}, dtype, seed).transpose(0, 1);
}

// The elements of `a` in row-major order, read one by one.
template <class T>
Array by_index(const Array& a) {
  Array out = Array::empty(a.shape(), a.dtype());
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    std::int64_t rest = i, at = 0;
    for (std::int64_t d = a.rank(); d-- > 0; rest /= a.shape()[d])
      at += rest % a.shape()[d] * a.strides()[d];
    out.data<T>()[i] = a.data<T>()[at];
  }
  return out;
}

}  // namespace

TEST_CASE("copies of permuted arrays have their elements in order, on every target") {
  for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {boolean, int64, float32, float64}) {
      visit_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (const Shape& shape : kMatrices) {
          INFO(target << " " << dtype_name(dtype) << " " << shape);
          const Array a = transposed(shape, dtype, 1);
          CHECK(same_bits(a.clone(), by_index<T>(a)));
        }
        const Array a = random_array({3, 40, 10, 67}, dtype);
        for (const Shape& order :
             {Shape{0, 2, 1, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {0, 1, 3, 2}, {2, 0, 3, 1}}) {
          INFO(target << " " << dtype_name(dtype) << " permuted to " << order);
          const Array permuted = a.permute(order);
          CHECK(same_bits(permuted.clone(), by_index<T>(permuted)));
        }
      });
    }
  });
}

TEST_CASE("operations on transposed arrays are those on their copies, on any number of threads") {
  for (const DType dtype : {float32, float64, int64}) {
    for (const Shape& shape : kMatrices) {
      INFO(dtype_name(dtype) << " " << shape);
      const Array straight = random_array(shape, dtype, 1);
      const Array a = transposed(shape, dtype, 2), b = transposed(shape, dtype, 3);
      const Array mask = transposed(shape, boolean, 4);
      const auto in_any_order = [&](auto kernel, const auto&... inputs) {
        const Array expected = Array::empty(shape, dtype);
        kernel(expected, inputs.clone()...);
        CHECK(same_bits_for_any_thread_count([&] {
          Array out = Array::empty(shape, dtype);
          kernel(out, inputs...);
          CHECK(same_bits(out, expected));
          return out;
        }));
      };
      in_any_order(kernels::neg, a);
      in_any_order(kernels::add, straight, a);
      in_any_order(kernels::sub, a, straight);
      in_any_order(kernels::mul, a, b);
      in_any_order(kernels::where, mask, straight, b);
      in_any_order(kernels::add, a, random_array({shape[1]}, dtype, 5));
      in_any_order(kernels::add, random_array({shape[0], 1}, dtype, 6), b);
    }
  }
}

TEST_CASE("an output that is transposed gets its elements where they belong") {
  for (const Shape& shape : kMatrices) {
    const Array a = random_array(shape, float32, 1), b = random_array(shape, float32, 2);
    const Array out = transposed(shape, float32, 3), expected = Array::empty(shape, float32);
    kernels::add(expected, a, b);
    kernels::add(out, a, b);
    CHECK(same_bits(out, expected));
    kernels::copy(out, a);
    CHECK(same_bits(out, a));
  }
}

TEST_CASE("elementwise kernels have the same results on every target") {
  const auto check = [](auto tag, const Shape& shape, const Shape& b_shape) {
    using T = typename decltype(tag)::type;
    const DType dtype = dtype_of<T>();
    const Array a = random_array(shape, dtype, 1), b = random_array(b_shape, dtype, 2);
    const Array mask = random_array(shape, boolean, 3);
    for (std::int64_t i = 0; i < a.numel(); i += 5)
      a.data<T>()[i] = std::numeric_limits<T>::quiet_NaN();
    b.data<T>()[0] = std::numeric_limits<T>::quiet_NaN();
    const auto binary = [&](auto kernel, auto f) {
      check_in_every_layout(reference_map<T, T, T>(shape, f, a, b), kernel, a, b);
    };
    const T factor = static_cast<T>(0.3);
    binary(kernels::add, [](T x, T y) { return x + y; });
    binary(kernels::sub, [](T x, T y) { return x - y; });
    binary(kernels::div, [](T x, T y) { return x / y; });
    binary([](const Array& out, const Array& x,
              const Array& y) { kernels::add_scaled(out, x, y, 0.3); },
           [factor](T x, T y) { return x + factor * y; });
    binary(kernels::maximum, [](T x, T y) { return x > y || x != x ? x : y; });
    binary(kernels::minimum, [](T x, T y) { return x < y || x != x ? x : y; });
    check_in_every_layout(reference_map<T, T>(
                              shape, [](T x) { return -x; }, a),
                          kernels::neg, a);
    check_in_every_layout(reference_map<T, T>(
                              shape, [](T x) { return std::abs(x); }, a),
                          kernels::abs, a);
    check_in_every_layout(
        reference_map<T, T, T>(
            shape, [](T x, T y) { return x != x ? y : x; }, a, b),
        [](const Array& out, const Array& x, const Array& y) {
          const Array nan = Array::empty(x.shape(), boolean);
          kernels::ne(nan, x, x);
          kernels::where(out, nan, y, x);
        },
        a, b);
    const Array filled = Array::empty(shape, dtype);
    kernels::masked_fill(filled, a, mask, 7);
    const Array expected = Array::empty(shape, dtype);
    for (std::int64_t i = 0; i < filled.numel(); ++i) {
      expected.data<T>()[i] = mask.data<bool>()[i] ? T(7) : a.data<T>()[i];
    }
    REQUIRE(same_bits(filled, expected));
    kernels::fill(filled, 3);
    CHECK(filled.to_vector<T>() == std::vector<T>(static_cast<std::size_t>(a.numel()), T(3)));
  };
  for_each_simd_target([&](const std::string& target) {
    for (const Shape& shape : {Shape{1, 1}, {1, 7}, {3, 16}, {5, 33}}) {
      for (const Shape& b_shape : {shape, Shape{shape[1]}, Shape{shape[0], 1}, Shape{}}) {
        INFO(target << " " << shape << " with " << b_shape);
        check(TypeTag<float>(), shape, b_shape);
        check(TypeTag<double>(), shape, b_shape);
      }
    }
  });
}
