#include <tend/core/kernels/indexing/indexing.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

namespace {

// int64 numbers in [0, size).
Array random_index(const Shape& shape, std::int64_t size) {
  Array out = random_array(shape, int64, 9);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    auto& x = out.data<std::int64_t>()[i];
    x = (x + 50) % size;
  }
  return out;
}

Array gather(const Array& a, std::int64_t dim, const Array& index) {
  Array out = Array::full(index.shape(), 1, a.dtype());
  kernels::gather(out, a, dim, index);
  return out;
}

Array index_select(const Array& a, std::int64_t dim, const Array& index) {
  Shape shape = a.shape();
  if (a.rank() > 0) shape[dim] = index.numel();
  Array out = Array::full(shape, 1, a.dtype());
  kernels::index_select(out, a, dim, index);
  return out;
}

// Calls f(place in index, place in the other array) for every element of `index`, row by row.
template <class F>
void for_each_place(const Array& index, std::int64_t dim, F f) {
  const std::vector<std::int64_t> values = index.to_vector<std::int64_t>();
  const Shape strides = contiguous_strides(index.shape());
  for (std::int64_t i = 0; i < index.numel(); ++i) {
    Shape here = Shape::filled(index.shape().size(), 0);
    for (std::int64_t d = 0; d < index.rank(); ++d) here[d] = i / strides[d] % index.size(d);
    Shape there = here;
    there[dim] = values[static_cast<std::size_t>(i)];
    f(here, there);
  }
}

Array element(Array a, const Shape& place) {
  for (const std::int64_t i : place) a = a.select(0, i);
  return a;
}

}  // namespace

TEST_CASE("gather reads along any dimension, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape : {Shape{9}, Shape{4, 7}, Shape{3, 5, 6}}) {
    const Array source = random_array(shape, dtype);
    for (std::int64_t dim = 0; dim < source.rank(); ++dim) {
      for (const std::int64_t count : {1, 4, 11}) {
        Shape index_shape = shape;
        index_shape[dim] = count;
        if (dim > 0) index_shape[0] -= 1;  // smaller than the source elsewhere
        const Array index = random_index(index_shape, shape[dim]);
        const Array want = Array::empty(index_shape, dtype);
        for_each_place(index, dim, [&](const Shape& here, const Shape& there) {
          element(want, here).copy_from(element(source, there));
        });
        for (const Array& a : layouts(source)) {
          for (const Array& at : layouts(index)) {
            for (const Array& out : layouts(Array::full(index_shape, 1, dtype))) {
              CAPTURE(shape, dim, count, a.strides(), at.strides(), out.strides());
              kernels::gather(out, a, dim, at);
              CHECK(same_bits(out, want));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("scatter_add adds along any dimension, in every layout") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape : {Shape{9}, Shape{4, 7}, Shape{3, 5, 6}}) {
    const Array before = random_array(shape, dtype, 2);
    for (std::int64_t dim = 0; dim < before.rank(); ++dim) {
      for (const std::int64_t count : {1, 4, 30}) {
        Shape index_shape = shape;
        index_shape[dim] = count;
        if (dim > 0) index_shape[0] -= 1;
        const Array index = random_index(index_shape, shape[dim]);
        Shape source_shape = index_shape;
        source_shape[0] += 1;  // elements that no index names are left out
        const Array source = random_array(source_shape, dtype);
        const Array want = before.clone();
        for_each_place(index, dim, [&](const Shape& here, const Shape& there) {
          visit_dtype(dtype, [&](auto tag) {
            using T = typename decltype(tag)::type;
            T& sum = *element(want, there).template data<T>();
            const T term = element(source, here).template item<T>();
            sum = std::is_same_v<T, bool> ? sum || term : static_cast<T>(sum + term);
          });
        });
        for (const Array& src : layouts(source)) {
          for (const Array& at : layouts(index)) {
            for (const Array& out : layouts(before)) {
              CAPTURE(shape, dim, count, src.strides(), at.strides(), out.strides());
              kernels::scatter_add(out, dim, at, src);
              CHECK(same_bits(out, want));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("index_select and index_add are gather and scatter_add of whole slices") {
  const DType dtype = GENERATE(float32, float64, int64, boolean);
  for (const Shape& shape : {Shape{9}, Shape{4, 70}, Shape{3, 5, 6}}) {
    const Array source = random_array(shape, dtype);
    for (std::int64_t dim = 0; dim < source.rank(); ++dim) {
      const Array index = random_index({13}, shape[dim]);
      Shape slices = shape;
      slices[dim] = 13;
      Array full = index;
      for (std::int64_t d = dim + 1; d < source.rank(); ++d) full = full.unsqueeze(-1);
      full = full.expand(slices).contiguous();
      const Array terms = random_array(slices, dtype, 3);
      const Array sums = source.clone();
      kernels::scatter_add(sums, dim, full, terms);
      for (const Array& a : layouts(source)) {
        for (const Array& at : layouts(index)) {
          CAPTURE(shape, dim, a.strides(), at.strides());
          CHECK(same_bits(index_select(a, dim, at), gather(source, dim, full)));
        }
        for (const Array& src : layouts(terms)) {
          const Array out = a.clone();
          kernels::index_add(out, dim, index, src);
          CHECK(same_bits(out, sums));
        }
        kernels::index_add(a, dim, index, terms);
        CHECK(same_bits(a, sums));
      }
    }
  }
}

TEST_CASE("indexing by numbers and by nothing") {
  const Array a = random_array({4, 3}, float32), number = Array::full({}, 2.5, float32),
              zero = Array::zeros({}, int64), none = Array::empty({0}, int64);
  CHECK(same_bits(index_select(a, 0, Array::full({}, 2, int64)), a.narrow(0, 2, 1)));
  CHECK(index_select(a, 0, none).shape() == Shape{0, 3});
  CHECK(gather(number, 0, zero).item<float>() == 2.5F);
  CHECK(gather(number, 0, Array::zeros({3}, int64)).to_vector<float>() ==
        std::vector<float>(3, 2.5F));
  CHECK(gather(a, 1, Array::empty({4, 0}, int64)).numel() == 0);
  CHECK(gather(Array::empty({0, 3}, float32), 1, Array::empty({0, 2}, int64)).numel() == 0);
  const Array out = a.clone();
  kernels::index_add(out, 0, none, Array::empty({0, 3}, float32));
  kernels::scatter_add(out, 0, Array::empty({0, 3}, int64), a);
  CHECK(same_bits(out, a));
  kernels::scatter_add(number, 0, zero, Array::full({}, 1, float32));
  CHECK(number.item<float>() == 3.5F);
}

TEST_CASE("an index out of range is refused") {
  const Array a = random_array({4, 3}, float32), before = a.clone(),
              src = random_array({2, 3}, float32);
  const std::int64_t bad = GENERATE(as<std::int64_t>(), -1, 4, std::int64_t{1} << 62);
  const std::string text = as_text("index ", bad, " is out of range for dimension 0 of (4, 3)");
  const Array index = array_of<std::int64_t>({0, bad});
  const Array grid = index.unsqueeze(1).expand({2, 3});
  CHECK_THROWS_MATCHES(kernels::index_add(a, 0, index, src), IndexError,
                       Message("[index_add] " + text));
  CHECK(same_bits(a, before));
  CHECK_THROWS_MATCHES(kernels::scatter_add(a.clone(), 0, grid, src), IndexError,
                       Message("[scatter_add] " + text));
  const Array out = src.clone();
  CHECK_THROWS_MATCHES(kernels::index_select(out, a, 0, index), IndexError,
                       Message("[index_select] " + text));
  CHECK_THROWS_MATCHES(kernels::index_select(out, a, 0, index, "embedding"), IndexError,
                       Message("[embedding] " + text));
  CHECK(same_bits(out, src));
  CHECK_THROWS_MATCHES(kernels::gather(out, a, 0, grid), IndexError, Message("[gather] " + text));
  const Array hot = Array::full({2, 4}, 7, int64);
  CHECK_THROWS_MATCHES(
      kernels::one_hot(hot, index), IndexError,
      Message(as_text("[one_hot] index ", bad, " is out of range for dimension 1 of (2, 4)")));
  CHECK(same_bits(hot, Array::full({2, 4}, 7, int64)));
}

TEST_CASE("indexing refuses what does not fit") {
  const Array a = random_array({4, 3}, float32), d = a.to(float64),
              index = Array::zeros({2, 3}, int64), wide = Array::zeros({2, 4}, int64),
              floats = Array::zeros({2, 3}, float32), out = Array::zeros({2, 3}, float32);
  CHECK_THROWS_MATCHES(kernels::gather(out, a, 0, floats), DTypeError,
                       Message("[gather] the index is float32, not int64"));
  CHECK_THROWS_MATCHES(kernels::gather(out, d, 0, index), DTypeError,
                       Message("[gather] the elements are float64 and float32"));
  CHECK_THROWS_MATCHES(kernels::gather(Array::zeros({2, 4}, float32), a, 0, wide), ShapeError,
                       Message("[gather] index (2, 4) is larger than (4, 3) or of another rank"));
  CHECK_THROWS_MATCHES(
      kernels::scatter_add(a, 0, wide, Array::zeros({2, 4}, float32)), ShapeError,
      Message("[scatter_add] index (2, 4) is larger than (4, 3) or of another rank"));
  CHECK_THROWS_MATCHES(
      kernels::scatter_add(a, 0, index, Array::zeros({3}, float32)), ShapeError,
      Message("[scatter_add] index (2, 3) is larger than (3,) or of another rank"));
  CHECK_THROWS_MATCHES(kernels::index_select(out, a, 0, index), ShapeError,
                       Message("[index_select] the index has shape (2, 3), not one dimension"));
  const Array two = Array::zeros({2}, int64);
  CHECK_THROWS_MATCHES(
      kernels::index_add(a, 0, two, Array::zeros({3, 3}, float32)), ShapeError,
      Message("[index_add] source (3, 3) and index (2,) do not fit (4, 3) in dimension 0"));
}

TEST_CASE("one_hot marks each index in a new last dimension") {
  const Array index = random_index({3, 5}, 4);
  for (const DType dtype : {float32, float64, int64, boolean}) {
    for (const Array& at : layouts(index)) {
      for (const Array& out : layouts(Array::full({3, 5, 4}, 1, dtype))) {
        kernels::one_hot(out, at);
        std::vector<double> want;
        for (const std::int64_t i : index.to_vector<std::int64_t>()) {
          for (std::int64_t c = 0; c < 4; ++c) want.push_back(c == i ? 1 : 0);
        }
        CHECK(out.to(float64).to_vector<double>() == want);
      }
    }
  }
  const Array none = Array::empty({0, 4}, int64);
  kernels::one_hot(none, Array::empty({0}, int64));
  CHECK(none.numel() == 0);
}

TEST_CASE("sums by index have the same bits for any number of threads") {
  const Array index = random_index({3000}, 40), terms = random_array({3000, 65}, float32);
  CHECK(same_bits_for_any_thread_count([&] {
    Array out = Array::zeros({40, 65}, float32);
    kernels::index_add(out, 0, index, terms);
    return out;
  }));
  CHECK(same_bits_for_any_thread_count([&] {
    Array out = Array::zeros({3000, 40}, float32);
    kernels::scatter_add(out, 1, random_index({3000, 65}, 40), terms);
    return out;
  }));
}

TEST_CASE(
    "an index into a dimension without elements is out of range, one without elements is none") {
  const Array none = Array::empty({0}, float32), place = Array::full({1}, 0, int64);
  const Array one = Array::full({1}, 1, float32);
  CHECK_THROWS_AS(kernels::gather(Array::empty({1}, float32), none, 0, place), IndexError);
  CHECK_THROWS_AS(kernels::scatter(none, 0, place, one), IndexError);
  CHECK_THROWS_AS(kernels::scatter_add(none, 0, place, one), IndexError);
  const Array table = Array::full({2, 2}, 3, float32), empty = Array::empty({0}, int64);
  kernels::scatter(table, 0, empty, none);
  kernels::gather(none, table, 0, empty);
  CHECK(table.to_vector<float>() == std::vector<float>(4, 3));
}
