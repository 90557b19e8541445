#include <array>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("Numbers that int64 cannot hold make no tensor of it") {
  CHECK_THROWS_AS(tensor({1.0, kNaN}, int64), DTypeError);
  CHECK_THROWS_AS(tensor({{1e30}}, int64), DTypeError);
}

TEST_CASE("arange takes its dtype from its numbers") {
  CHECK(values(arange(4)) == std::vector<double>{0, 1, 2, 3});
  CHECK(arange(4).dtype() == int64);
  CHECK(values(arange(1, 2.5, 0.5)) == std::vector<double>{1, 1.5, 2});
  CHECK(arange(1, 2.5, 0.5).dtype() == float32);
  CHECK(values(arange(5, 0, -2)) == std::vector<double>{5, 3, 1});
  CHECK(values(arange(0.5, 3.5, 1, int64)) == std::vector<double>{0, 1, 2});
  CHECK(arange(3, float64).dtype() == float64);
  CHECK(arange(0).shape() == Shape{0});
  CHECK(arange(0, 1, kInf).shape() == Shape{0});
}

TEST_CASE("arange counts exactly where the distance leaves int64") {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(arange(kMin, kMax, kMax).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{kMin, -1, kMax - 1});
  CHECK(arange(kMax, kMin, kMin).to_vector<std::int64_t>() == std::vector<std::int64_t>{kMax, -1});
  CHECK_THROWS_AS(arange(kMin, kMax, 1), Error);
}

TEST_CASE("arange refuses steps that lead nowhere") {
  CHECK_THROWS_MATCHES(arange(5, 0), Error, says("[arange] from 5 to 0 in steps of 1"));
  CHECK_THROWS_AS(arange(0, 5, 0), Error);
  CHECK_THROWS_AS(arange(0., 5., 0.), Error);
  CHECK_THROWS_AS(arange(0., 5., -1.), Error);
  CHECK_THROWS_AS(arange(kInf), Error);
  CHECK_THROWS_AS(arange(0, 1, kNaN), Error);
  CHECK_THROWS_AS(arange(3, boolean), DTypeError);
}

TEST_CASE("linspace includes both ends") {
  CHECK(values(linspace(1, 9, 3)) == std::vector<double>{1, 5, 9});
  CHECK(linspace(0, 1, 2, float64).dtype() == float64);
  CHECK(linspace(0, 1, 0).shape() == Shape{0});
  CHECK_THROWS_AS(linspace(0, 1, -1), ShapeError);
  CHECK_THROWS_AS(linspace(0, 1, 3, int64), DTypeError);
}

TEST_CASE("eye has its ones on the diagonal, whatever its width") {
  CHECK(values(eye(2)) == std::vector<double>{1, 0, 0, 1});
  CHECK(values(eye(2, 3, int64)) == std::vector<double>{1, 0, 0, 0, 1, 0});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK_THROWS_AS(eye(-1), ShapeError);
}

TEST_CASE("tensors like another have its shape and dtype, not its history") {
  const Tensor x = Tensor(ones({2, 3}, float64)).requires_grad_();
  CHECK(zeros_like(x).dtype() == float64);
  CHECK_FALSE(ones_like(x).requires_grad());
  CHECK(values(full_like(x, 2.5)) == std::vector<double>(6, 2.5));
  CHECK(zeros_like(x, int64).dtype() == int64);
}

TEST_CASE("from_blob shares the caller's memory and gives it back once") {
  std::array<float, 6> memory{1, 2, 3, 4, 5, 6};
  int deleted = 0;
  {
    const Tensor x = from_blob(memory.data(), {2, 3}, float32, [&](void* data) {
      CHECK(data == memory.data());
      ++deleted;
    });
    const Tensor row = x[1];
    row.mul_(2);
    CHECK(memory[3] == 8);
  }
  CHECK(deleted == 1);
  CHECK(values(from_blob(memory.data(), {3, 2}, {1, 3})) ==
        std::vector<double>{1, 8, 2, 10, 3, 12});
  CHECK_THROWS_AS(from_blob(memory.data(), {3}, {-1}), ShapeError);
}

TEST_CASE("int64 is not filled with numbers that it cannot hold") {
  const Tensor x = arange(3);
  for (const double number : {1e30, -1e30, 0x1p63, kInf, -kInf, kNaN}) {
    CHECK_THROWS_MATCHES(full({2}, number, int64), DTypeError,
                         says(as_text("[full] int64 cannot hold the value ", number)));
    CHECK_THROWS_AS(full_like(x, number), DTypeError);
    CHECK_THROWS_MATCHES(x.fill_(number), DTypeError,
                         says(as_text("[fill_] int64 cannot hold the value ", number)));
    CHECK_THROWS_AS(x[0] = number, DTypeError);
    CHECK_THROWS_AS(arange(0, number, 1, int64), DTypeError);
  }
  CHECK(same(x, {0, 1, 2}));
  CHECK(full({}, -0x1p63, int64).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK_THROWS_MATCHES(arange(0, 1e30, 1, int64), DTypeError,
                       says("[arange] int64 cannot hold the value 1e+30"));
}

TEST_CASE("fill_ with a tensor gives it the gradient of every element") {
  const Tensor value = leaf({3}).view({}), x = leaf({1, 2}) * 1;
  x.fill_(value);
  CHECK(values(x) == std::vector<double>{3, 3});
  CHECK(values(autograd::grad({(x * tensor({2, 5}, float64)).sum()}, {value})[0]) ==
        std::vector<double>{7});
  CHECK_THROWS_MATCHES(x.fill_(tensor({1.})), ShapeError,
                       says("[fill_] the value must be 0-d, not (1,)"));
}
