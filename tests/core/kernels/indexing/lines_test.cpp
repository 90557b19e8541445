// Gathers and scatters of large arrays, which are packed or divided among threads.
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/threads/parallel.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using namespace tend::test;

namespace {

// Whole numbers. Their sums are exact, so that tests compare results without a tolerance.
Array numbers(const Shape& shape) {
  Array out = Array::empty(shape, float64);
  for (std::int64_t i = 0; i < out.numel(); ++i)
    out.data<double>()[i] = static_cast<double>(7919 * i % 1009);
  return out;
}

// Indices below `size`. Each index appears many times.
Array indices(const Shape& shape, std::int64_t size) {
  Array out = Array::empty(shape, int64);
  for (std::int64_t i = 0; i < out.numel(); ++i) out.data<std::int64_t>()[i] = i * i % 7919 % size;
  return out;
}

Array transposed(const Array& x) {
  return x.transpose(0, 1).contiguous().transpose(0, 1);
}

Array laid(const Array& x, bool turned) {
  return turned ? transposed(x) : x;
}

double& at(const Array& x, std::int64_t i, std::int64_t j) {
  return x.data<double>()[i * x.strides()[0] + j * x.strides()[1]];
}

// gather and scatter_add by their definition, element by element.
Array gathered(const Array& a, std::int64_t dim, const Array& index) {
  Array out = Array::empty(index.shape(), float64);
  for (std::int64_t i = 0; i < index.size(0); ++i) {
    for (std::int64_t j = 0; j < index.size(1); ++j) {
      const auto k = index.data<std::int64_t>()[i * index.size(1) + j];
      at(out, i, j) = dim == 0 ? at(a, k, j) : at(a, i, k);
    }
  }
  return out;
}

Array scattered(const Array& before, std::int64_t dim, const Array& index, const Array& src) {
  Array out = before.clone();
  for (std::int64_t i = 0; i < index.size(0); ++i) {
    for (std::int64_t j = 0; j < index.size(1); ++j) {
      const auto k = index.data<std::int64_t>()[i * index.size(1) + j];
      (dim == 0 ? at(out, k, j) : at(out, i, k)) += at(src, i, j);
    }
  }
  return out;
}

template <class F>
void with_threads(F f) {
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    INFO(threads << " threads");
    f();
  }
  set_num_threads(before);
}

}  // namespace

TEST_CASE("large gathers and scatters are right in every layout") {
  const Shape shape{300, 310};
  const Array a = numbers(shape), src = numbers({280, 290});
  for (const std::int64_t dim : {0, 1}) {
    const Array index = indices({280, 290}, shape[dim]);
    const Array taken = gathered(a, dim, index), summed = scattered(a, dim, index, src);
    with_threads([&] {
      for (const bool turned : {false, true}) {
        INFO("dim " << dim << ", transposed " << turned);
        const Array out = Array::empty(index.shape(), float64);
        kernels::gather(out, laid(a, turned), dim, laid(index, turned));
        CHECK(out.to_vector<double>() == taken.to_vector<double>());
        const Array sums = turned ? transposed(a) : a.clone();
        kernels::scatter_add(sums, dim, laid(index, turned), laid(src, turned));
        CHECK(sums.to_vector<double>() == summed.to_vector<double>());
      }
    });
  }
}

TEST_CASE("an index out of range is found at any position of a large index array") {
  const Array a = numbers({300, 310}), src = numbers({280, 290});
  for (const std::int64_t dim : {0, 1}) {
    for (const std::int64_t place : {0, 150 * 290 + 145, 280 * 290 - 1}) {
      for (const std::int64_t wrong : {std::int64_t{-1}, a.shape()[dim]}) {
        for (const bool turned : {false, true}) {
          INFO("dim " << dim << ", place " << place << ", " << wrong << ", " << turned);
          const Array index = indices({280, 290}, a.shape()[dim]);
          index.data<std::int64_t>()[place] = wrong;
          const Array out = Array::empty(index.shape(), float64);
          CHECK_THROWS_AS(kernels::gather(out, laid(a, turned), dim, laid(index, turned)),
                          IndexError);
          CHECK_THROWS_AS(kernels::scatter_add(laid(a.clone(), turned), dim, laid(index, turned),
                                               laid(src, turned)),
                          IndexError);
        }
      }
    }
  }
}

TEST_CASE("index_add adds every slice once for any number of parts") {
  // In the last shape, one index applies to more than 32768 elements.
  for (const Shape& shape : {Shape{500, 300}, Shape{9000, 40}, Shape{3, 40000}}) {
    const Array src = numbers(shape), index = indices({shape[0]}, 50);
    const Array spread = index.reshape({shape[0], 1}).expand(shape).contiguous();
    const Array before = numbers({50, shape[1]});
    const Array summed = scattered(before, 0, spread, src), taken = gathered(before, 0, spread);
    with_threads([&] {
      INFO(shape[0] << " slices of " << shape[1]);
      const Array sums = before.clone();
      kernels::index_add(sums, 0, index, src);
      CHECK(sums.to_vector<double>() == summed.to_vector<double>());
      const Array out = Array::empty(shape, float64);
      kernels::index_select(out, before, 0, index);
      CHECK(out.to_vector<double>() == taken.to_vector<double>());
    });
  }
}
