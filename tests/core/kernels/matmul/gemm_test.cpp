#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/matmul/matmul_path.h>

#include <sys/mman.h>

#include <cmath>
#include <limits>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

namespace {

Shape product_shape(const Array& a, const Array& b) {
  return kernels::matmul_shape("matmul", a.shape(), b.shape());
}

Array product(const Array& a, const Array& b) {
  Array out = Array::full(product_shape(a, b), is_floating(a.dtype()) ? NAN : -1, a.dtype());
  kernels::matmul(out, a, b);
  return out;
}

// A product computed in double: the sums, and the sums of the absolute values. The inputs must have
// at least two dimensions.
struct Reference {
  std::vector<double> sums, sizes;
};

Reference reference(const Array& a, const Array& b) {
  const Shape shape = product_shape(a, b);
  Shape batch = shape;
  batch.erase(shape.rank() - 1);
  batch.erase(shape.rank() - 2);
  const auto full = [&](const Array& x) {
    Shape wanted = batch;
    wanted.push_back(x.size(-2));
    wanted.push_back(x.size(-1));
    return x.expand(wanted).to(float64).reshape({-1, x.size(-2), x.size(-1)}).contiguous();
  };
  const std::int64_t m = shape[shape.rank() - 2], n = shape.back(), k = a.size(-1);
  Reference out;
  if (element_count(shape) == 0) return out;
  const std::int64_t items = element_count(batch);
  if (k == 0)
    return {std::vector<double>(static_cast<std::size_t>(items * m * n)),
            std::vector<double>(static_cast<std::size_t>(items * m * n))};
  const Array left = full(a), right = full(b);
  for (std::int64_t i = 0; i < items * m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const double term =
            left.data<double>()[i * k + p] * right.data<double>()[(i / m * k + p) * n + j];
        sum += term;
        size += std::abs(term);
      }
      out.sums.push_back(sum);
      out.sizes.push_back(size);
    }
  }
  return out;
}

// For any order of summation, the error of a sum of k products is at most about k rounding errors
// of the sum of their absolute values. Two more are allowed for alpha and beta.
void check_product(const Array& got, const Reference& want, std::int64_t k) {
  const double unit = got.dtype() == float32 ? 0x1p-24 : 0x1p-53;
  const std::vector<double> values = got.to(float64).to_vector<double>();
  REQUIRE(values.size() == want.sums.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double bound = static_cast<double>(k + 2) * unit * want.sizes[i];
    if (!(std::abs(values[i] - want.sums[i]) <= bound)) {
      FAIL("element " << i << ": " << values[i] << " for " << want.sums[i] << " +- " << bound);
    }
  }
}

void check_all_layouts(const Shape& a_shape, const Shape& b_shape, DType dtype) {
  const Array a = random_array(a_shape, dtype, 1), b = random_array(b_shape, dtype, 2);
  const Reference want = reference(a, b);
  CAPTURE(a_shape, b_shape, dtype);
  for (const Array& left : layouts(a)) {
    for (const Array& right : layouts(b)) {
      for (const Array& out : layouts(Array::full(product_shape(a, b), NAN, dtype))) {
        for (const MatmulPath path : {MatmulPath::automatic, MatmulPath::blas, MatmulPath::tiles}) {
          CAPTURE(left.strides(), right.strides(), out.strides(), matmul_path_name(path));
          const MatmulPathGuard guard(path);
          kernels::matmul(out, left, right);
          check_product(out, want, a.size(-1));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("matmul of batches is right in every layout") {
  const DType dtype = GENERATE(float32, float64);
  check_all_layouts({3, 2, 4}, {3, 4, 5}, dtype);
  check_all_layouts({3, 12, 14}, {3, 14, 15}, dtype);
  check_all_layouts({2, 1, 12, 14}, {3, 14, 15}, dtype);
  check_all_layouts({12, 14}, {4, 14, 15}, dtype);
  check_all_layouts({4, 12, 14}, {14, 15}, dtype);
  check_all_layouts({4, 1, 14}, {14, 15}, dtype);
  check_all_layouts({4, 12, 14}, {4, 14, 1}, dtype);
  check_all_layouts({1, 1, 3, 2, 9, 8}, {2, 1, 1, 2, 8, 9}, dtype);
}

TEST_CASE("matmul of vectors is right in every layout") {
  const DType dtype = GENERATE(float32, float64);
  for (const std::int64_t k : {3, 1000}) {
    const Array a = random_array({k}, dtype, 1), b = random_array({k}, dtype, 2),
                matrix = random_array({k, 5}, dtype, 3), batch = random_array({2, 3, k}, dtype, 4);
    for (const Array& left : layouts(a)) {
      for (const Array& right : layouts(b)) {
        check_product(product(left, right).view({1, 1}),
                      reference(left.unsqueeze(0), right.unsqueeze(1)), k);
      }
      for (const Array& right : layouts(matrix)) {
        check_product(product(left, right).unsqueeze(0), reference(left.unsqueeze(0), right), k);
      }
      for (const Array& other : layouts(batch)) {
        check_product(product(other, left).unsqueeze(-1), reference(other, left.unsqueeze(1)), k);
        const Array turned = other.transpose(1, 2);
        check_product(product(left, turned).unsqueeze(-2), reference(left.unsqueeze(0), turned), k);
      }
    }
    const Array constant = Array::full({}, 0.5F, dtype).expand({k});
    check_product(product(constant, b).view({1, 1}),
                  reference(constant.unsqueeze(0), b.unsqueeze(1)), k);
    check_product(product(constant, matrix).unsqueeze(0), reference(constant.unsqueeze(0), matrix),
                  k);
  }
}

TEST_CASE("matmul reads and writes head-split views") {
  constexpr std::int64_t kBatch = 2, kTokens = 24, kHeads = 3, kDim = 16;
  const auto heads = [](const Array& x) {
    return x.view({kBatch, kTokens, kHeads, kDim}).transpose(1, 2);
  };
  const Shape flat{kBatch, kTokens, kHeads * kDim};
  const Array q = heads(random_array(flat, float32, 1)), k = heads(random_array(flat, float32, 2)),
              v = heads(random_array(flat, float32, 3));
  const Array scores = product(q, k.transpose(-1, -2));
  check_product(scores, reference(q, k.transpose(-1, -2)), kDim);
  const Array context = heads(Array::full(flat, NAN, float32));
  kernels::matmul(context, scores, v);
  check_product(context, reference(scores, v), kTokens);
}

TEST_CASE("matmul of empty arrays gives zeros or an empty array") {
  for (const DType dtype : {float32, float64, int64}) {
    CHECK(same_bits(product(Array::zeros({2, 0}, dtype), Array::zeros({0, 3}, dtype)),
                    Array::zeros({2, 3}, dtype)));
    CHECK(product(Array::zeros({0, 4}, dtype), Array::zeros({4, 3}, dtype)).numel() == 0);
    CHECK(product(Array::zeros({2, 4}, dtype), Array::zeros({4, 0}, dtype)).numel() == 0);
    CHECK(product(Array::zeros({0, 2, 4}, dtype), Array::zeros({4, 3}, dtype)).numel() == 0);
    CHECK(same_bits(product(Array::zeros({0}, dtype), Array::zeros({0}, dtype)),
                    Array::zeros({}, dtype)));
    const Array out = Array::full({2, 3}, 3, dtype);
    kernels::matmul(out, Array::zeros({2, 0}, dtype), Array::zeros({0, 3}, dtype), 1, 2);
    CHECK(same_bits(out, Array::full({2, 3}, 6, dtype)));
  }
}

TEST_CASE("matmul multiplies the product by alpha and the output by beta") {
  const auto [m, n, k] = GENERATE(table<std::int64_t, std::int64_t, std::int64_t>(
      {{2, 3, 4}, {30, 20, 10}, {30, 1, 40}, {1, 30, 40}, {1, 1, 400}}));
  const Array a = random_array({m, k}, float64, 1), b = random_array({k, n}, float64, 2),
              c = random_array({m, n}, float64, 3);
  Reference want = reference(a, b);
  for (std::size_t i = 0; i < want.sums.size(); ++i) {
    const double old = c.data<double>()[i];
    want.sums[i] = -1.5 * want.sums[i] + 0.75 * old;
    want.sizes[i] = 1.5 * want.sizes[i] + 0.75 * std::abs(old);
  }
  for (const Array& out : layouts(c)) {
    kernels::matmul(out, a, b, -1.5, 0.75);
    check_product(out, want, k);
  }
}

TEST_CASE("matmul propagates NaN and infinity") {
  const auto [m, n, k] = GENERATE(table<std::int64_t, std::int64_t, std::int64_t>(
      {{2, 3, 4}, {20, 30, 40}, {20, 1, 40}, {1, 20, 40}, {1, 1, 400}}));
  const Array a = Array::full({m, k}, 1, float32), b = Array::full({k, n}, 1, float32);
  a.data<float>()[1] = NAN;
  if (m > 1) a.data<float>()[k] = INFINITY;
  const std::vector<float> out = product(a, b).to_vector<float>();
  CHECK(std::isnan(out[0]));
  if (m > 1) CHECK(out[static_cast<std::size_t>(n)] == INFINITY);
}

TEST_CASE("matmul of int64 is exact and wraps around") {
  const Array a = random_array({2, 7, 8}, int64, 1), b = random_array({8, 100}, int64, 2);
  const Reference want = reference(a, b);
  for (const Array& left : layouts(a)) {
    for (const Array& right : layouts(b))
      CHECK(product(left, right).to(float64).to_vector<double>() == want.sums);
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const Array big = array_of<std::int64_t>({kMax, kMax}), two = array_of<std::int64_t>({2, 1});
  CHECK(product(big, two).item<std::int64_t>() == kMax - 2);
  const Array out = Array::full({}, 10, int64);
  kernels::matmul(out, two, two, -1, 2);
  CHECK(out.item<std::int64_t>() == 15);
}

TEST_CASE("A large product by BLAS is right and has the same bits for any number of threads") {
  constexpr std::int64_t kSize = 1500;  // large enough for several blocks
  const MatmulPathGuard guard(MatmulPath::blas);
  const Array a = random_array({kSize, kSize}, float32, 1);
  const Array b = random_array({kSize, kSize}, float32, 2);
  const Array whole = product(a, b);
  for (const std::int64_t at : {0, 1, 77, 751, 752, 1499}) {
    check_product(whole.narrow(0, at, 1).narrow(1, at, 1),
                  reference(a.narrow(0, at, 1), b.narrow(1, at, 1)), kSize);
  }
  CHECK(same_bits_for_any_thread_count([&] { return product(a, b); }));
}

TEST_CASE("matmul is right on every SIMD target and in every layout") {
  for_each_simd_target([](const std::string& target) {
    CAPTURE(target);
    for (const DType dtype : {float32, float64}) {
      // Widths near the widths of vectors and of panels, and heights near the heights of blocks.
      for (const std::int64_t n : {1, 7, 16, 33, 63, 64, 65, 130})
        check_all_layouts({13, 9}, {9, n}, dtype);
      for (const std::int64_t m : {1, 5, 8, 48, 49, 100})
        check_all_layouts({m, 11}, {11, 70}, dtype);
      check_all_layouts({3, 50, 20}, {3, 20, 40}, dtype);
    }
  });
}

TEST_CASE("A block of a product has the same bits as in the whole product") {
  const DType dtype = GENERATE(float32, float64);
  const Array a = random_array({200, 150}, dtype, 1), b = random_array({150, 300}, dtype, 2);
  const Array whole = product(a, b);
  for (const auto& [row, rows] : {std::pair{0, 8}, {8, 57}, {100, 100}}) {
    CHECK(same_bits(product(a.narrow(0, row, rows), b), whole.narrow(0, row, rows).clone()));
    CHECK(same_bits(product(a, b.narrow(1, row, rows)), whole.narrow(1, row, rows).clone()));
  }
  // A b that must be packed, and a b whose rows are far apart in memory.
  const Array turned = b.transpose(0, 1).clone().transpose(0, 1);
  CHECK(same_bits(product(a, turned), whole));
  const Array apart = random_array({150, 8000}, dtype, 3);
  apart.narrow(1, 0, 300).copy_from(b);
  CHECK(same_bits(product(a, apart.narrow(1, 0, 300)), whole));
}

TEST_CASE("matmul is right for large inner dimensions and for rows that are far apart") {
  const DType dtype = GENERATE(float32, float64);
  const auto check = [](const Array& a, const Array& b) {
    check_product(product(a, b), reference(a, b), a.size(-1));
    const Array out = Array::full(product_shape(a, b), 2, a.dtype());
    kernels::matmul(out, a, b, 0.5, 1);
    Reference want = reference(a, b);
    for (double& sum : want.sums) sum = 0.5 * sum + 2;
    for (double& size : want.sizes) size = size + 2;
    check_product(out, want, a.size(-1));
  };
  check(random_array({20, 2500}, dtype, 1), random_array({2500, 70}, dtype, 2));
  // The columns of a and the rows of b are 2000 elements apart in memory. For few rows of the
  // product, the threads also divide its columns.
  const Array wide_a = random_array({200, 2000}, dtype, 3),
              wide_b = random_array({200, 2000}, dtype, 4);
  for (const std::int64_t rows : {100, 800})
    check(wide_a.narrow(1, 5, rows).transpose(0, 1), wide_b.narrow(1, 3, 70));
  // The columns of a are 400 elements apart, and the threads divide the batch.
  check(random_array({9, 200, 400}, dtype, 5).narrow(2, 5, 20).transpose(1, 2),
        random_array({9, 200, 30}, dtype, 6));
}

// b has more than 2^20 elements. The rows of a need several blocks, and the last block is not full.
TEST_CASE("matmul by a matrix larger than the cache gives each row the same bits as alone") {
  const DType dtype = GENERATE(float32, float64);
  const Array a = random_array({410, 1024}, dtype, 1), b = random_array({1024, 1030}, dtype, 2);
  const MatmulPathGuard tiles(MatmulPath::tiles);
  const Array few = product(a.narrow(0, 0, 13), b);
  check_product(few, reference(a.narrow(0, 0, 13), b), 1024);
  const int before = num_threads();
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    const Array whole = product(a, b);
    CHECK(same_bits(whole.narrow(0, 0, 13).contiguous(), few));
    CHECK(same_bits(whole.narrow(0, 397, 13).contiguous(), product(a.narrow(0, 397, 13), b)));
  }
  set_num_threads(before);
}

namespace {

// A copy of `bias` in another dtype. If `bias` is strided, so is the copy.
Array like(const Array& bias, DType dtype) {
  Array out = bias.is_contiguous() ? Array::empty(bias.shape(), dtype)
                                   : Array::full({bias.numel(), 2}, 0, dtype).select(1, 1);
  out.copy_from(bias);
  return out;
}

}  // namespace

TEST_CASE("linear adds a bias of any layout to products of any size") {
  // Whole numbers, so that results in float32 and float64 are exact, too.
  const auto [rows, depth, columns] =
      GENERATE(table<std::int64_t, std::int64_t, std::int64_t>({{1, 1, 1},
                                                                {3, 2, 2},
                                                                {5, 40, 70},
                                                                {33, 20, 1500},
                                                                {200, 300, 700},
                                                                {8, 2500, 100},
                                                                {300, 64, 3000}}));
  const Array x = random_array({2, rows, depth}, int64, 1);
  const Array weight = random_array({columns, depth}, int64, 2);
  const Array plain = product(x, weight.transpose(0, 1));
  const Array room = random_array({columns, 2}, int64, 3);
  for (const Array& bias : {room.select(1, 0).contiguous(), room.select(1, 1),
                            random_array({rows, columns}, int64, 4), Array::full({1}, 7, int64)}) {
    Array want = Array::empty(plain.shape(), int64);
    kernels::add(want, plain, bias);
    for (const DType dtype : {float32, float64, int64}) {
      CAPTURE(rows, depth, columns, bias.shape(), dtype);
      const Array out = Array::full(plain.shape(), 99, dtype);
      kernels::linear(out, x.to(dtype), weight.to(dtype), like(bias, dtype));
      CHECK(out.to(int64).to_vector<std::int64_t>() == want.to_vector<std::int64_t>());
    }
  }
}

TEST_CASE("matmul works for sizes and strides that do not fit the int of BLAS", "[slow]") {
  const MatmulPathGuard guard(MatmulPath::automatic);  // the path tiles has no such limit
  constexpr std::int64_t kLength = (std::int64_t{1} << 31) + 1000;
  constexpr auto kBytes = static_cast<std::size_t>(2 * kLength) * sizeof(float);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const Array rows = Array::from_blob(memory, {2, kLength}, {kLength, 1}, float32,
                                      [](void* p) { munmap(p, kBytes); });
  const Array row = rows.select(0, 0);
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1} << 30, kLength - 1})
    row.data<float>()[i] = 2;
  CHECK(product(row, row).item<float>() == 12);
  // If rows are too far apart, matmul copies them. If rows are too long, it throws an error.
  const Array starts = rows.slice(1, 0, 200);
  CHECK(product(starts, starts.transpose(0, 1)).to_vector<float>() ==
        std::vector<float>{4, 0, 0, 0});
  CHECK_THROWS_MATCHES(
      product(rows, row), ShapeError,
      Message("[matmul] a row of (2, 2147484648) has more than 1073741824 elements"));
}
