// Forms of calls that programs ported from Python use.
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("sizes can be separate arguments") {
  CHECK(zeros(2, 3).shape() == Shape{2, 3});
  CHECK(ones(2, 3).equal(ones({2, 3})));
  CHECK(empty(4, 0, 2).shape() == Shape{4, 0, 2});
  manual_seed(1);
  const Tensor uniform = rand(2, 3), normal = randn(2, 3);
  manual_seed(1);
  CHECK(uniform.equal(rand({2, 3})));
  CHECK(normal.equal(randn({2, 3})));
  const Tensor x = arange(6);
  CHECK(x.view(2, 3).equal(x.view({2, 3})));
  CHECK(x.reshape(3, -1).equal(x.view({3, 2})));
  CHECK(x.view(2, 3).permute(1, 0).equal(x.view({2, 3}).t()));
  CHECK(x.view(6, 1).expand(6, 2).shape() == Shape{6, 2});
  CHECK(x.repeat(2, 1).shape() == Shape{2, 6});
  CHECK(x.view(2, 3).flip(0, 1).equal(x.flip(0).view({2, 3})));
  CHECK_THROWS_MATCHES(x.view(4, 2), ShapeError,
                       says("[view] 6 elements do not fill shape (4, 2)"));
}

TEST_CASE("a shape can be an initializer_list in a variable") {
  const std::initializer_list<std::int64_t> sizes{2, 3};
  CHECK(zeros(sizes).shape() == Shape{2, 3});
}

TEST_CASE("an index list can be built at run time") {
  const Tensor x = arange(6, float32).view({2, 3});
  std::vector<Index> indices;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    indices.emplace_back(d == 0 ? Index(1) : Index(Slice{1, 3}));
  CHECK(x[indices].equal(tensor({4., 5.})));
  x[indices] = 0;
  CHECK(x.equal(tensor({{0., 1., 2.}, {3., 0., 0.}})));
}

TEST_CASE("to_vector converts to any integer type if all numbers fit") {
  CHECK(tensor({1, -2}).to_vector<int>() == std::vector<int>{1, -2});
  CHECK_THROWS_MATCHES(tensor({1, 300}).to_vector<signed char>(), IndexError,
                       says("[to_vector] 300 is out of the range of signed char"));
  CHECK_THROWS_AS(tensor({1.}).to_vector<int>(), DTypeError);
}

TEST_CASE("arrays and spans of numbers become tensors") {
  const std::array<double, 4> array{1, 2, 3, 4};
  const float numbers[] = {1, 2, 3, 4};
  std::vector<std::int64_t> whole{5, 6};
  CHECK(tensor(array).equal(tensor({1., 2., 3., 4.})));
  CHECK(tensor(array, {2, 2}).equal(tensor({{1., 2.}, {3., 4.}})));
  CHECK(tensor(numbers, {2, 2}).equal(tensor({{1., 2.}, {3., 4.}})));
  CHECK(tensor(std::span(whole)).equal(tensor({5, 6})));
  CHECK(tensor(std::span<const std::int64_t>(whole), float64).equal(tensor({5, 6}, float64)));
}

TEST_CASE("losses accept options in braces or only a reduction") {
  const Tensor x = tensor({0.5, -2.}), y = tensor({1., 0.});
  CHECK(mse_loss(x, y, {.reduction = "sum"}).equal(mse_loss(x, y, "sum")));
  CHECK(l1_loss(x, y, {.reduction = "none"}).equal(l1_loss(x, y, Reduction::none)));
  CHECK(smooth_l1_loss(x, y, {.beta = 2}).equal(smooth_l1_loss(x, y, "mean", 2)));
  CHECK(huber_loss(x, y, {.reduction = "sum", .delta = 0.5}).equal(huber_loss(x, y, "sum", 0.5)));
  const Tensor p = tensor({0.5, 0.25}), w = tensor({2., 3.});
  CHECK(binary_cross_entropy(p, y, {.weight = w}).equal(binary_cross_entropy(p, y, w)));
  CHECK(binary_cross_entropy_with_logits(x, y, {.pos_weight = w})
            .equal(binary_cross_entropy_with_logits(x, y, {}, w)));
  const Tensor logits = tensor({{1., 2., 3.}}), target = tensor({2});
  CHECK(cross_entropy(logits, target, "sum")
            .equal(cross_entropy(logits, target, {.reduction = "sum"})));
  CHECK(nll_loss(logits, target, "sum").equal(nll_loss(logits, target, {.reduction = "sum"})));
}

TEST_CASE("data is another name of data_ptr") {
  const Tensor x = tensor({1., 2.});
  CHECK(x.data<float>() == x.data_ptr<float>());
}
