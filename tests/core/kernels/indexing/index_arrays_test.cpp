// IndexArrays, nonzero and searchsorted: what advanced indexing is made of.
#include <limits>

#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/indexing/masks.h>
#include <tend/core/kernels/reduce/sort.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;
using kernels::IndexArrays;

namespace {

using Numbers = std::vector<std::int64_t>;

Array take(const Array& a, const IndexArrays& arrays) {
  Array out = Array::full(arrays.result_shape(a.shape()), 1, a.dtype());
  kernels::take_indexed(out, a, arrays);
  return out;
}

// Positions in dimensions 0 and 2 of (3, 4, 5), which broadcast to (2, 3).
IndexArrays separated() {
  return {
      {0, 2}, {array_of<std::int64_t>({2, 0}, {2, 1}), array_of<std::int64_t>({4, 1, 4})}, {2, 3}};
}

// Positions in dimensions 1 and 2 of (3, 4, 5).
IndexArrays neighbours() {
  return {{1, 2}, {array_of<std::int64_t>({3, 0, 3}), array_of<std::int64_t>({1, 1, 1})}, {3}};
}

}  // namespace

TEST_CASE("places have their shape where neighbouring dimensions were, or in front") {
  CHECK(separated().result_shape({3, 4, 5}) == Shape{2, 3, 4});
  CHECK(neighbours().result_shape({3, 4, 5}) == Shape{3, 3});
  const IndexArrays one{{1}, {array_of<std::int64_t>({0, 0}, {2, 1})}, {2, 1}};
  CHECK(one.result_shape({3, 4, 5}) == Shape{3, 2, 1, 5});
  CHECK(IndexArrays{}.result_shape({3, 4}) == Shape{3, 4});
}

TEST_CASE("take_places reads elements in every layout and dtype") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  const Array dense = random_array({3, 4, 5}, dtype);
  const std::int64_t rows[] = {2, 0}, columns[] = {4, 1, 4}, middle[] = {3, 0, 3};
  for (const Array& a : layouts(dense)) {
    CAPTURE(a.strides(), dtype);
    const Array apart = take(a, separated()), near = take(a, neighbours());
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        const Array want = dense.select(0, rows[i]).select(1, columns[j]);
        CHECK(same_bits(apart.select(0, i).select(0, j), want));
      }
    }
    for (std::int64_t j = 0; j < 3; ++j)
      CHECK(same_bits(near.select(1, j), dense.select(1, middle[j]).select(1, 1)));
    CHECK(same_bits(take(a, {}), dense));
  }
}

TEST_CASE("put_places writes the last of several, or adds all of them") {
  const DType dtype = GENERATE(float32, float64, int64);
  for (const Array& out : layouts(Array::zeros({3, 4, 5}, dtype))) {
    for (const Array& src : layouts(random_array({3, 3}, dtype))) {
      CAPTURE(out.strides(), src.strides(), dtype);
      const Array want = Array::zeros({3, 4, 5}, float64);
      const auto at = [&](std::int64_t k) { return want.select(1, k).select(1, 1); };
      const auto from = [&](std::int64_t j) { return src.select(1, j); };
      out.fill(0);
      kernels::put_indexed(out, neighbours(), src, false);
      at(3).copy_from(from(2));
      at(0).copy_from(from(1));
      CHECK(same_bits(out.to(float64), want));
      kernels::put_indexed(out, neighbours(), src, true);
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto number = [&](std::int64_t j) { return from(j).select(0, i).item<double>(); };
        at(0).select(0, i).fill(2 * number(1));
        // Rounded after each addition, as the kernel does.
        const double sum =
            dtype == float32
                ? static_cast<float>(static_cast<float>(number(2) + number(0)) + number(2))
                : number(2) + number(0) + number(2);
        at(3).select(0, i).fill(sum);
      }
      CHECK(same_bits(out.to(float64), want));
    }
  }
}

TEST_CASE("put_places broadcasts its source") {
  const Array out = Array::zeros({3, 4, 5}, float32);
  kernels::put_indexed(out, separated(), array_of<float>({7}, {1, 1}), false);
  CHECK(take(out, separated()).to_vector<float>() == std::vector<float>(24, 7));
  const auto all = out.to_vector<float>();
  CHECK(std::count(all.begin(), all.end(), 7.F) == 16);  // two of the columns are the same
}

TEST_CASE("puts have the same bits for any number of threads") {
  const std::int64_t count = 3000;
  const Array positions = random_array({count}, int64), terms = random_array({count, 65}, float32);
  const Array wrapped = Array::empty({count}, int64);
  CHECK_FALSE(kernels::wrap_positions(wrapped, positions, 51));
  const bool accumulate = GENERATE(false, true);
  CHECK(same_bits_for_any_thread_count([&] {
    Array out = Array::zeros({51, 65}, float32);
    kernels::put_indexed(out, {{0}, {wrapped}, {count}}, terms, accumulate);
    return out;
  }));
}

TEST_CASE("wrap_positions counts negative positions from the end and finds those outside") {
  const auto wrap = [](std::initializer_list<std::int64_t> positions, std::int64_t size) {
    const Array out = Array::empty({static_cast<std::int64_t>(positions.size())}, int64);
    const auto bad = kernels::wrap_positions(out, array_of<std::int64_t>(positions), size);
    return std::pair(out.to_vector<std::int64_t>(), bad);
  };
  CHECK(wrap({-1, 0, -3, 2}, 3).first == Numbers{2, 0, 0, 2});
  CHECK(!wrap({-1, 0, -3, 2}, 3).second);
  CHECK(wrap({0, 3, -4}, 3).second == 3);
  CHECK(wrap({0, -4, 3}, 3).second == -4);
  CHECK(wrap({std::numeric_limits<std::int64_t>::min()}, 3).second ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(wrap({0}, 0).second == 0);
}

TEST_CASE("scatter replaces, and the last of several stays") {
  for (const Array& out : layouts(Array::zeros({2, 3}, float32))) {
    out.fill(0);
    kernels::scatter(out, 1, array_of<std::int64_t>({0, 2, 0, 1, 1, 1}, {2, 3}),
                     array_of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
    CHECK(out.to_vector<float>() == std::vector<float>{3, 0, 2, 0, 6, 0});
  }
}

TEST_CASE("nonzero lists positions in row-major order") {
  const Array mask = array_of<bool>({true, false, true, false, false, true}, {2, 3});
  REQUIRE(kernels::count_nonzero(mask) == 3);
  const Array out = Array::empty({3, 2}, int64);
  kernels::nonzero(out, mask);
  CHECK(out.to_vector<std::int64_t>() == Numbers{0, 0, 0, 2, 1, 2});
}

TEST_CASE("searchsorted counts what is smaller, NaN at the end") {
  const double nan = std::nan("");
  const Array row = array_of<double>({1, 3, 3, 5});
  const Array wanted = array_of<double>({0, 3, 5, 9, nan, 4});
  const auto search = [](const Array& rows, const Array& values, bool right) {
    const Array out = Array::empty(values.shape(), int64);
    kernels::searchsorted(out, rows, values, right);
    return out.to_vector<std::int64_t>();
  };
  CHECK(search(row, wanted, false) == Numbers{0, 1, 3, 4, 4, 3});
  CHECK(search(row, wanted, true) == Numbers{0, 3, 4, 4, 4, 3});
  const Array rows = array_of<double>({1, 3, 2, 4}, {2, 2});
  CHECK(search(rows, array_of<double>({2, 3, 2, 3}, {2, 2}), false) == Numbers{1, 1, 0, 1});
  CHECK(search(Array::empty({0}, float64), row, true) == Numbers{0, 0, 0, 0});
}
