#include <array>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("tensor refuses numbers that int64 cannot hold") {
  CHECK_THROWS_AS(tensor({1.0, kNaN}, int64), DTypeError);
  CHECK_THROWS_AS(tensor({{1e30}}, int64), DTypeError);
}

TEST_CASE("the dtype of arange follows from its arguments") {
  CHECK(values(arange(4)) == std::vector<double>{0, 1, 2, 3});
  CHECK(arange(4).dtype() == int64);
  CHECK(values(arange(1, 2.5, 0.5)) == std::vector<double>{1, 1.5, 2});
  CHECK(arange(1, 2.5, 0.5).dtype() == float32);
  CHECK(values(arange(5, 0, -2)) == std::vector<double>{5, 3, 1});
  CHECK(values(arange(0.5, 3.5, 1, int64)) == std::vector<double>{0, 1, 2});
  CHECK(arange(3, float64).dtype() == float64);
  CHECK(arange(1, 3, float64).dtype() == float64);
  CHECK(values(arange(1, 3, float64)) == std::vector<double>{1, 2});
  CHECK(arange(0).shape() == Shape{0});
  CHECK(arange(0, 1, kInf).shape() == Shape{0});
}

TEST_CASE("arange refuses steps that never reach the end") {
  for (const double no_end : {kInf, -kInf, kNaN}) {
    CHECK_THROWS_AS(arange(0, no_end, 0.5), Error);
    CHECK_THROWS_AS(arange(no_end, 1, 0.5), Error);
    CHECK_THROWS_AS(arange(0, 1, no_end == kInf ? kNaN : no_end), Error);
  }
  CHECK_THROWS_MATCHES(arange(5, 0), Error,
                       says("[arange] cannot count from 5 to 0 in steps of 1"));
  CHECK_THROWS_AS(arange(0, 5, 0), Error);
  CHECK_THROWS_AS(arange(0., 5., 0.), Error);
  CHECK_THROWS_AS(arange(0., 5., -1.), Error);
  CHECK_THROWS_AS(arange(0., -5., 1.), Error);
  CHECK_THROWS_AS(arange(kInf), Error);
  CHECK_THROWS_AS(arange(-kInf, 0.), Error);
  CHECK_THROWS_AS(arange(kNaN, 0.), Error);
  CHECK_THROWS_AS(arange(0., 1e30, 1., float64), Error);
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

TEST_CASE("eye has ones on the diagonal for any number of columns") {
  CHECK_THROWS_AS(eye(-1), ShapeError);
  CHECK_THROWS_WITH(eye(2, -1),
                    "[eye] the numbers of rows and columns must not be negative, got 2 and -1");
  CHECK(values(eye(2)) == std::vector<double>{1, 0, 0, 1});
  CHECK(values(eye(2, 3, int64)) == std::vector<double>{1, 0, 0, 0, 1, 0});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK_THROWS_AS(eye(-1), ShapeError);
}

TEST_CASE("from_blob shares the caller's memory and calls the deleter once") {
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

TEST_CASE("filling an int64 tensor refuses numbers that int64 cannot hold") {
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

TEST_CASE("fill_ with a tensor sends it the sum of all gradients") {
  const Tensor value = leaf({3}).view({}), x = leaf({1, 2}) * 1;
  x.fill_(value);
  CHECK(values(x) == std::vector<double>{3, 3});
  CHECK(values(autograd::grad({(x * tensor({2, 5}, float64)).sum()}, {value})[0]) ==
        std::vector<double>{7});
  CHECK_THROWS_MATCHES(x.fill_(tensor({1.})), ShapeError,
                       says("[fill_] the value must be 0-d, not (1,)"));
}

TEST_CASE("nested vectors make a tensor with several dimensions") {
  const std::vector<std::vector<double>> rows{{1, 2, 3}, {4, 5, 6}};
  CHECK(tensor(rows).equal(tensor({{1., 2., 3.}, {4., 5., 6.}})));
  CHECK(tensor(rows, float64).dtype() == float64);
  CHECK(tensor(rows, {.requires_grad = true}).requires_grad());
  CHECK(tensor(std::vector<std::vector<bool>>{{true}, {false}}).equal(tensor({{true}, {false}})));
  const std::vector<std::vector<std::vector<int>>> deep{{{1, 2}}, {{3, 4}}};
  CHECK(tensor(deep).equal(tensor({{{1, 2}}, {{3, 4}}})));
  CHECK(tensor({rows[0], rows[1]}).equal(tensor(rows)));
  CHECK(tensor(std::vector<std::vector<double>>(2)).shape() == Shape{2, 0});
  CHECK(tensor(std::vector<std::vector<double>>()).shape() == Shape{0});
}

TEST_CASE("tensor refuses rows of different lengths") {
  const std::vector<std::vector<double>> ragged{{1, 2}, {3}};
  CHECK_THROWS_MATCHES(tensor(ragged), ShapeError,
                       says("[tensor] all rows must have the same shape, got (2,) and (1,)"));
  CHECK_THROWS_MATCHES(tensor({{1, 2}, {3}}), ShapeError,
                       says("[tensor] all rows must have the same shape, got (2,) and (1,)"));
  const std::vector<std::vector<std::vector<double>>> deep{{{1}}, {{1}, {2}}};
  CHECK_THROWS_AS(tensor(deep), ShapeError);
  CHECK_THROWS_AS(tensor({NestedNumbers(1), NestedNumbers{1}}), ShapeError);
}

TEST_CASE("every creation function can make leaves that require grad") {
  const TensorOptions wide{.dtype = float64, .requires_grad = true};
  const Tensor like = ones({2, 3});
  const std::vector<double> numbers{1, 2};
  const std::vector<Tensor> made{empty({2}, wide),
                                 full({2}, 3, wide),
                                 zeros({2}, wide),
                                 ones({2}, wide),
                                 empty_like(like, wide),
                                 full_like(like, 3, wide),
                                 zeros_like(like, wide),
                                 ones_like(like, wide),
                                 arange(3, wide),
                                 arange(0, 3, wide),
                                 arange(0, 3, 2, wide),
                                 linspace(0, 1, 3, wide),
                                 eye(2, wide),
                                 eye(2, 3, wide),
                                 tensor({1, 2}, wide),
                                 tensor(numbers, wide),
                                 tensor(numbers, {2}, wide),
                                 like.new_empty({2}, wide),
                                 like.new_ones(2, wide)};
  for (const Tensor& each : made) {
    CHECK(each.requires_grad());
    CHECK(each.is_leaf());
    CHECK(each.dtype() == float64);
  }
  CHECK(values(full({2}, 3, wide)) == std::vector<double>{3, 3});
  CHECK(values(arange(1, 4, wide)) == std::vector<double>{1, 2, 3});
}

TEST_CASE("options without a dtype use the default dtype of the function") {
  const TensorOptions leaf{.requires_grad = true};
  CHECK(zeros({2}, leaf).dtype() == float32);
  CHECK(arange(0.5, 3, leaf).dtype() == float32);
  CHECK(zeros_like(ones({2}, float64), leaf).dtype() == float64);
  CHECK(full({2}, true, TensorOptions{}).dtype() == boolean);
  CHECK(arange(3, TensorOptions{}).dtype() == int64);
  CHECK_THROWS_MATCHES(arange(3, leaf), DTypeError,
                       says("[arange] only floating tensors have gradients, not int64"));
  CHECK_THROWS_AS(zeros({2}, {.dtype = boolean, .requires_grad = true}), DTypeError);
  CHECK_THROWS_AS(full({2}, 1, leaf), DTypeError);
}

TEST_CASE("the _like functions copy the shape and dtype of a tensor but not its history") {
  const Tensor x = Tensor(ones({2, 3}, float64)).requires_grad_();
  CHECK(zeros_like(x).dtype() == float64);
  CHECK_FALSE(ones_like(x).requires_grad());
  CHECK(values(full_like(x, 2.5)) == std::vector<double>(6, 2.5));
  CHECK(zeros_like(x, int64).dtype() == int64);
}
