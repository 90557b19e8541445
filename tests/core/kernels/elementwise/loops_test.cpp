#include <cmath>
#include <limits>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/compare.h>
#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/masking.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

// Shapes that are larger than a tile, equal to a tile, smaller, and larger by one element.
const std::vector<Shape> kMatrices{{70, 130}, {64, 32}, {9, 8}, {33, 65}, {8, 200}, {3, 2}};

// A random array of `shape` that is transposed in memory: the first dimension has stride 1.
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

TEST_CASE("copies of permuted arrays have the right elements on every target") {
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

TEST_CASE("operations on transposed arrays and on their copies have the same bits") {
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
