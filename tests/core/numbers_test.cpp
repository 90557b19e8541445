// Numbers and sizes that do not fit what they are put into, and memory that somebody lends.
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

TEST_CASE("an element becomes a C++ number only where that can hold it") {
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

TEST_CASE("integers that int64 cannot hold are no number, size or dimension") {
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

TEST_CASE("flags take bools alone") {
  STATIC_REQUIRE(std::is_convertible_v<bool, Flag>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Flag, int>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Flag, double>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Flag, const char*>);
}

TEST_CASE("floats beyond an integer convert to its smallest value, in every width") {
  CHECK(convert<int>(1e10) == std::numeric_limits<int>::min());
  CHECK(convert<int>(kNaN) == std::numeric_limits<int>::min());
  CHECK(convert<unsigned>(-1.0) == 0);
  CHECK(convert<std::int64_t>(-0x1p63) == kMin);
}

TEST_CASE("a list of sizes moves seldom while it grows, and keeps its values") {
  Shape shape;
  constexpr std::int64_t kCount = 10000;
  int moves = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t* before = shape.data();
    shape.push_back(i);
    moves += shape.data() != before;
  }
  CHECK(moves < 15);
  bool same = shape.rank() == kCount;
  for (std::int64_t i = 0; i < kCount; ++i) same = same && shape[i] == i;
  CHECK(same);
  shape.insert(7, -1);
  CHECK(shape[6] == 6);
  CHECK(shape[7] == -1);
  CHECK(shape[8] == 7);
  const Shape copy = shape;
  CHECK(copy == shape);
}

TEST_CASE("lent memory is given back once, whatever happens") {
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

TEST_CASE("strides that lead out of int64 are refused") {
  double number = 1;
  for (const Shape& strides :
       {Shape{kMax, 1}, Shape{kMax / 2, kMax / 2}, Shape{kMax / 8, 1}, Shape{1, kMax}}) {
    CHECK_THROWS_AS(Array::from_blob(&number, {2, 3}, strides, float64), ShapeError);
  }
  CHECK_NOTHROW(Array::from_blob(&number, {1, 1}, {kMax, kMax}, float64));
  CHECK_NOTHROW(Array::from_blob(&number, {0, 3}, {kMax, kMax}, float64));
}

// What the undefined behaviour sanitizer would find.
TEST_CASE("views of nothing and of one element keep any strides") {
  const Array empty = Array::empty({kMax / 2, 4, 0}, float32);
  CHECK(empty.select(0, kMax / 2 - 1).shape() == Shape{4, 0});
  CHECK(empty.slice(0, kMax / 4, std::nullopt, kMax / 8).numel() == 0);
  CHECK(empty.narrow(0, kMax / 4, 5).shape() == Shape{5, 4, 0});
  CHECK(empty.unsqueeze(0).shape() == Shape{1, kMax / 2, 4, 0});
  CHECK(empty.diagonal(0, 0, 1).shape() == Shape{0, 4});
  CHECK(empty.diagonal(1, 1, 0).shape() == Shape{0, 4});
  CHECK(empty.unfold(0, 2, kMax / 4).numel() == 0);
  const Array one = Array::zeros({2}, float32);
  CHECK(one.as_strided({0, 3}, {kMax, kMax}, kMax).numel() == 0);
  const Array lone = one.as_strided({1, 1}, {kMax, kMax}, 1);
  CHECK(lone.unsqueeze(0).diagonal(0, 1, 2).item<float>() == 0);
  CHECK(lone.slice(0, 1, std::nullopt).numel() == 0);
  CHECK(lone.unfold(0, 1, kMax).numel() == 1);
  CHECK_FALSE(lone.may_overlap(one.slice(0, 0, 1)));
  CHECK(lone.may_overlap(one));
  CHECK_THROWS_AS(one.as_strided({2}, {kMax}, 1), ShapeError);
  CHECK_THROWS_AS(one.as_strided({2}, {-1}, 1), ShapeError);
}

TEST_CASE("int64 wraps around in every kernel of arithmetic") {
  using Integers = std::vector<std::int64_t>;
  const Array a = array_of<std::int64_t>({kMin, kMax, kMin});
  const Array b = array_of<std::int64_t>({-1, kMax, kMin});
  const auto result = [](auto kernel, const auto&... inputs) {
    const Array out = Array::empty({3}, int64);
    kernel(out, inputs...);
    return out.to_vector<std::int64_t>();
  };
  CHECK(result(kernels::neg, a) == Integers{kMin, -kMax, kMin});
  CHECK(result(kernels::abs, a) == Integers{kMin, kMax, kMin});
  CHECK(result(kernels::add, a, b) == Integers{kMax, -2, 0});
  CHECK(result(kernels::sub, a, b) == Integers{kMin + 1, 0, 0});
  CHECK(result(kernels::mul, a, b) == Integers{kMin, 1, 0});
  CHECK(result(kernels::floor_divide, a, b) == Integers{kMin, 1, 1});
  CHECK(result(kernels::remainder, a, b) == Integers{0, 0, 0});
  CHECK(result(kernels::fmod, a, b) == Integers{0, 0, 0});
  CHECK(result(kernels::pow, a, array_of<std::int64_t>({3, 3, 2})) == Integers{0, kMax, 0});
  const Scalar scale = (std::int64_t{1} << 53) + 1;
  const Array out = Array::empty({1}, int64);
  kernels::add_scaled(out, array_of<std::int64_t>({0}), array_of<std::int64_t>({1}), scale);
  CHECK(out.item<std::int64_t>() == (std::int64_t{1} << 53) + 1);
}

TEST_CASE("more elements to rank than there is memory for are an OutOfMemoryError") {
  const Array huge = Array::zeros({1}, float32).expand({std::int64_t{1} << 60});
  const Array value = Array::empty({1}, float32), index = Array::empty({1}, int64);
  CHECK_THROWS_AS(kernels::topk(value, index, huge, 1, 0, true), OutOfMemoryError);
}
