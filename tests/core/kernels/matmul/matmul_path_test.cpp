#include <tend/core/kernels/matmul/matmul_path.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include <tend/core/base/thread_number.h>
#include <tend/core/kernels/matmul/blas.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/threads/parallel.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;

namespace {

constexpr MatmulPath kPaths[] = {MatmulPath::automatic, MatmulPath::blas, MatmulPath::tiles};

Array product_on(MatmulPath path, const Array& a, const Array& b) {
  const MatmulPathGuard guard(path);
  Array out = Array::full(kernels::matmul_shape("matmul", a.shape(), b.shape()), NAN, a.dtype());
  kernels::matmul(out, a, b);
  return out;
}

Array linear_on(MatmulPath path, const Array& x, const Array& weight, const Array& bias) {
  const MatmulPathGuard guard(path);
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.size(0);
  Array out = Array::full(shape, NAN, x.dtype());
  kernels::linear(out, x, weight, bias);
  return out;
}

Array absolute(const Array& x) {
  Array out = x.to(float64).clone();
  for (std::int64_t i = 0; i < out.numel(); ++i)
    out.data<double>()[i] = std::abs(out.data<double>()[i]);
  return out;
}

// Checks that two results of different paths are close. Returns the number of elements that differ.
//
// The error of each path is at most k + 2 rounding errors of the sum of absolute values, for any
// order of the k terms (see gemm_test.cpp). So two results differ by at most twice this error.
int check_apart(const Array& x, const Array& y, const Array& sizes, std::int64_t k) {
  const double unit = x.dtype() == float32 ? 0x1p-24 : 0x1p-53;
  const auto left = x.to(float64).to_vector<double>(), right = y.to(float64).to_vector<double>(),
             size = sizes.to_vector<double>();
  int different = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double bound = 2 * static_cast<double>(k + 2) * unit * size[i];
    if (!(std::abs(left[i] - right[i]) <= bound))
      FAIL("element " << i << ": " << left[i] << " and " << right[i] << ", allowed are " << bound);
    different += left[i] != right[i];
  }
  return different;
}

}  // namespace

TEST_CASE("A guard sets the path of products on its thread until it is destroyed") {
  const MatmulPath before = matmul_path();
  {
    const MatmulPathGuard outer(MatmulPath::blas);
    CHECK(matmul_path() == MatmulPath::blas);
    {
      const MatmulPathGuard inner(MatmulPath::automatic);
      CHECK(matmul_path() == MatmulPath::automatic);
    }
    CHECK(matmul_path() == MatmulPath::blas);
    MatmulPath other = MatmulPath::tiles;
    std::thread([&] { other = matmul_path(); }).join();
    CHECK(other == before);
  }
  CHECK(matmul_path() == before);
}

TEST_CASE("A guard applies to every thread of a parallel_for inside it") {
  const int threads = num_threads();
  set_num_threads(4);
  const auto seen = [](MatmulPath path) {
    std::atomic<int> count = 0;
    std::atomic<std::uint64_t> first = 0;
    std::atomic<bool> shared = false;  // true after a second thread has joined
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    parallel_for(0, 400, 1, [&](std::int64_t, std::int64_t) {
      std::uint64_t none = 0;
      if (!first.compare_exchange_strong(none, thread_number()) && none != thread_number())
        shared = true;
      while (!shared && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      if (matmul_path() == path) ++count;
      parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
        if (matmul_path() != path) count = -10000;
      });
    });
    return shared ? count.load() : -1;  // -1 is a failure, since set_num_threads started threads
  };
  const MatmulPath before = matmul_path();
  for (const MatmulPath path : kPaths) {
    {
      const MatmulPathGuard guard(path);
      CHECK(seen(path) == 400);
    }
    CHECK(seen(before) == 400);
  }
  set_num_threads(threads);
}

TEST_CASE("linear agrees on both paths") {
  for (const DType dtype : {float32, float64}) {
    const Array x = random_array({2, 30, 90}, dtype, 1), weight = random_array({70, 90}, dtype, 2),
                bias = random_array({70}, dtype, 3);
    const Array sizes = linear_on(MatmulPath::tiles, absolute(x), absolute(weight), absolute(bias));
    // The bias is one more term.
    check_apart(linear_on(MatmulPath::blas, x, weight, bias),
                linear_on(MatmulPath::tiles, x, weight, bias), sizes, 91);
  }
}

TEST_CASE("Each path has the same bits for any number of threads") {
  for (const MatmulPath path : kPaths) {
    const auto check = [path](const Shape& left, const Shape& right) {
      const Array a = random_array(left, float32, 1), b = random_array(right, float32, 2);
      CHECK(same_bits_for_any_thread_count([&] { return product_on(path, a, b); }));
    };
    check({300, 200}, {200, 310});
    check({130, 2100}, {2100, 260});
    check({2000, 500}, {500});
    check({1, 500}, {500, 2000});
    check({12, 40, 50}, {12, 50, 60});
  }
}

namespace {

// True if the first rows of a @ b have the same bits when the other rows are not computed.
bool rows_stand_alone(MatmulPath path, const Array& a, const Array& b) {
  const Array all = product_on(path, a, b);
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 48, 60, 97}) {
    const Array some = product_on(path, a.narrow(0, 0, rows), b);
    if (!same_bits(some, all.narrow(0, 0, rows).clone())) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("A sequence has the same bits alone and in a batch and as a prefix except with BLAS") {
  for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      for (const auto& [k, n] : {std::pair<std::int64_t, std::int64_t>{3, 2},
                                 {16, 16},
                                 {17, 16},
                                 {40, 65},
                                 {1100, 20},
                                 {2100, 69},
                                 {203, 299},
                                 {200, 300}}) {
        CAPTURE(target, dtype, k, n);
        const Array a = random_array({100, k}, dtype, 1);
        const Array weight = random_array({n, k}, dtype, 2), b = weight.transpose(0, 1);
        for (const Array& right : {b, b.clone()}) {
          CHECK(rows_stand_alone(MatmulPath::tiles, a, right));
          CHECK(rows_stand_alone(MatmulPath::automatic, a, right));
        }
        const Array batch = random_array({5, 20, k}, dtype, 3);
        for (const MatmulPath path : {MatmulPath::automatic, MatmulPath::tiles}) {
          const Array all = product_on(path, batch, b);
          CHECK(same_bits(product_on(path, batch.select(0, 3), b), all.select(0, 3).clone()));
          const Array heads = random_array({5, k, n}, dtype, 4);
          const Array each = product_on(path, batch, heads);
          CHECK(same_bits(product_on(path, batch.select(0, 3), heads.select(0, 3)),
                          each.select(0, 3).clone()));
        }
      }
    }
  });
}

TEST_CASE("Gradients of weights agree on every path and automatic uses BLAS for them") {
  for_each_simd_target([](const std::string& target) {
    CAPTURE(target);
    const Array g = random_array({1030, 400}, float32, 1),
                x = random_array({1030, 270}, float32, 2);
    const Array left = g.transpose(0, 1);
    const auto gradient = [&](MatmulPath path, kernels::RowBits rows) {
      const MatmulPathGuard guard(path);
      Array out = Array::full({400, 270}, NAN, float32);
      kernels::matmul(out, left, x, 1, 0, rows);
      return out;
    };
    const auto free = [&](MatmulPath path) { return gradient(path, kernels::RowBits::free); };
    const Array sizes = product_on(MatmulPath::tiles, absolute(left), absolute(x));
    const Array blas = free(MatmulPath::blas), tiles = free(MatmulPath::tiles);
    check_apart(blas, tiles, sizes, 1030);
    // `automatic` uses BLAS where it was measured to be faster: on AVX2, and on AVX3, which is
    // Highway's name for AVX-512.
    const bool takes_blas = target.starts_with("AVX") && kernels::blas_fits_processor();
    CHECK(same_bits(free(MatmulPath::automatic), takes_blas ? blas : tiles));
    CHECK(same_bits(gradient(MatmulPath::automatic, kernels::RowBits::same), tiles));
    CHECK(same_bits_for_any_thread_count([&] { return free(MatmulPath::automatic); }));
  });
}
