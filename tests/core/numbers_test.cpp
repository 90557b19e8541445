// Numbers and sizes that a type cannot represent, and borrowed memory.
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/reduce/sort.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kTooMany = std::uint64_t{1} << 63;

template <class T>
T item_of(const Scalar& value, DType dtype) {
  return Array::scalar(value, dtype).item<T>();
}

}  // namespace

TEST_CASE("item returns an element only if the C++ type can represent it") {
  CHECK(item_of<int>(2.75, float32) == 2);
  CHECK(item_of<int>(-2.75, float64) == -2);
  CHECK(item_of<int>(2147483647.5, float64) == 2147483647);
  CHECK(item_of<int>(-2147483648.5, float64) == std::numeric_limits<int>::min());
  CHECK(item_of<unsigned>(-0.5, float64) == 0);
  CHECK(item_of<std::int64_t>(-0x1p63, float64) == kMin);
  CHECK(item_of<unsigned char>(255, int64) == 255);
  CHECK(item_of<std::uint64_t>(kMax, int64) == std::uint64_t{kMax});
  CHECK(item_of<bool>(1e300, float64));
  CHECK(item_of<bool>(kNaN, float64));
  CHECK(item_of<float>(kInf, float64) == std::numeric_limits<float>::infinity());
  CHECK(item_of<float>(16777217, int64) == 16777216.0F);
  CHECK_THROWS_MATCHES(item_of<int>(1e10, float32), DTypeError,
                       Message("[item] the element is 1e+10, which int cannot hold"));
  CHECK_THROWS_AS(item_of<int>(2147483648.0, float64), DTypeError);
  CHECK_THROWS_AS(item_of<int>(kNaN, float64), DTypeError);
  CHECK_THROWS_AS(item_of<std::int64_t>(kInf, float64), DTypeError);
  CHECK_THROWS_AS(item_of<std::int64_t>(0x1p63, float64), DTypeError);
  CHECK_THROWS_AS(item_of<std::int64_t>(0x1p63, float32), DTypeError);
  CHECK_THROWS_AS(item_of<unsigned>(-1.0, float64), DTypeError);
  CHECK_THROWS_AS(item_of<unsigned char>(300, int64), DTypeError);
  CHECK_THROWS_AS(item_of<std::uint64_t>(-1, int64), DTypeError);
  CHECK_THROWS_AS(item_of<float>(1e300, float64), DTypeError);
}

TEST_CASE("an integer that int64 cannot represent is refused as a number or size or dimension") {
  CHECK(Scalar(kTooMany - 1).to<std::int64_t>() == kMax);
  CHECK_THROWS_MATCHES(Scalar(kTooMany), IndexError,
                       Message("[integer] int64 cannot hold 9223372036854775808"));
  CHECK_THROWS_AS(Shape{std::numeric_limits<std::size_t>::max()}, IndexError);
  CHECK(Shape{std::uint32_t{4}, std::size_t{5}, 6} == Shape{4, 5, 6});
  CHECK_THROWS_AS(Integer(kTooMany), IndexError);
  CHECK(std::int64_t{Integer(short{-3})} == -3);
  STATIC_REQUIRE(std::is_nothrow_constructible_v<Scalar, int>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Integer, double>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Integer, bool>);
}

TEST_CASE("the deleter of borrowed memory is called once even after an error") {
  double numbers[4] = {1, 2, 3, 4};
  int returned = 0;
  const auto count = [&](void* data) {
    CHECK(data == numbers);
    ++returned;
  };
  { const Array a = Array::from_blob(numbers, {4}, {1}, float64, count); }
  CHECK(returned == 1);
  CHECK_THROWS_AS(Array::from_blob(numbers, {4}, {-1}, float64, count), ShapeError);
  CHECK(returned == 2);
  CHECK_THROWS_AS(Array::from_blob(numbers, {4}, {1, 1}, float64, count), ShapeError);
  CHECK(returned == 3);
  CHECK_THROWS_AS(Array::from_blob(numbers, {-4}, {1}, float64, count), ShapeError);
  CHECK(returned == 4);
  CHECK_THROWS_AS(Array::from_blob(nullptr, {4}, {1}, float64), ShapeError);
  CHECK_NOTHROW(Array::from_blob(nullptr, {0}, {1}, float64));
}

TEST_CASE("strides whose offsets overflow int64 are refused") {
  double number = 1;
  for (const Shape& strides :
       {Shape{kMax, 1}, Shape{kMax / 2, kMax / 2}, Shape{kMax / 8, 1}, Shape{1, kMax}}) {
    CHECK_THROWS_AS(Array::from_blob(&number, {2, 3}, strides, float64), ShapeError);
  }
  CHECK_NOTHROW(Array::from_blob(&number, {1, 1}, {kMax, kMax}, float64));
  CHECK_NOTHROW(Array::from_blob(&number, {0, 3}, {kMax, kMax}, float64));
}
