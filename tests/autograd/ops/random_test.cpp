// Tests random tensors and dropout. tests/core tests the random streams themselves.
#include <limits>

#include <tend/autograd/graph/engine.h>

#include "tests/arrays.h"
#include "tests/autograd/support.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("random tensors equal PyTorch's for the same seed") {
  manual_seed(123);
  CHECK_THAT(values(rand({2, 3})),
             near({0.29611194133758545, 0.516562283039093, 0.2516707181930542, 0.6885567903518677,
                   0.07397246360778809, 0.866521954536438}));
  CHECK_THAT(values(randn({3})),
             near({0.9447060823440552, 0.6217402815818787, -1.3501027822494507}));
  CHECK(values(randint(2, 9, {4})) == std::vector<double>{8, 8, 6, 8});
  CHECK(values(randperm(5)) == std::vector<double>{3, 1, 0, 2, 4});
  CHECK(values(bernoulli(full({5}, 0.4))) == std::vector<double>{0, 0, 1, 0, 1});
  CHECK(values(multinomial(tensor({0.1, 0.2, 0.7}), 2)) == std::vector<double>{1, 2});
  CHECK_THAT(values(zeros({2, 2}).t().uniform_(1, 2)),
             near({1.7058374881744385, 1.4339802265167236, 1.9156495332717896, 1.077150821685791}));
  CHECK_THAT(values(zeros({3}).normal_(1, 2)),
             near({0.623806893825531, 1.93878972530365, -0.25519630312919617}));
  CHECK(values(zeros({4}).bernoulli_()) == std::vector<double>{0, 0, 1, 0});
  CHECK(values(zeros({4}).bernoulli_(tensor({0.1, 0.9, 0.5, 0.5}))) ==
        std::vector<double>{0, 1, 0, 0});
  CHECK_THAT(values(zeros({2}).exponential_(2)), near({0.3940950036048889, 0.16589708626270294}));
}

TEST_CASE("random methods and short forms give the same numbers as the long forms") {
  const Tensor p = tensor({0.1, 0.2, 0.7});
  Generator a(7), b(7);
  CHECK(values(p.bernoulli(a)) == values(bernoulli(p, b)));
  CHECK(values(p.bernoulli(0.5, a)) == values(zeros({3}).bernoulli_(0.5, b)));
  CHECK(values(p.multinomial(2, false, a)) == values(multinomial(p, 2, false, b)));
  CHECK(values(randint(9, {5}, int64, a)) == values(randint(0, 9, {5}, int64, b)));
  CHECK(bernoulli(tensor({1, 2}), 1).dtype() == int64);
  CHECK_THROWS_AS(p.bernoulli(1.5), Error);
}

// The expected numbers are from torch.normal after manual_seed(7).
TEST_CASE("normal accepts numbers and tensors and gives PyTorch's numbers") {
  const Tensor mean = tensor({1., 2., 3.}), std = tensor({{.5}, {1.}});
  const auto draw = [](auto... arguments) {
    manual_seed(7);
    return normal(arguments...);
  };
  const auto shape = [](std::initializer_list<int> sizes) {
    return Shape(std::vector<int>(sizes));
  };
  CHECK_THAT(values(draw(0, 1, shape({2, 3}))),
             near({-0.146795094, 0.786141276, 0.94682163, -1.114344, 1.69079018, -0.894827902}));
  const Tensor wide = draw(2., 3., shape({20}), float64);
  CHECK(wide.dtype() == float64);
  CHECK_THAT(values(wide.slice(0, 0, 3)), near({2.19880262, 2.14097467, 7.50961589}));
  CHECK_THAT(values(draw(mean, 2.)), near({0.706409812, 3.57228255, 4.89364338}));
  CHECK_THAT(values(draw(mean)), near({0.853204906, 2.7861414, 3.94682169}));
  CHECK_THAT(values(draw(5., std)), near({4.92660236, 5.7861414}));
  CHECK_THAT(values(draw(mean, std)),
             near({0.926602483, 2.3930707, 3.47341084, -0.114344001, 3.69079018, 2.10517216}));
  CHECK(normal(mean.to(float64), std).dtype() == float64);
}

TEST_CASE("normal sends zero gradients to its means and deviations") {
  const Tensor mean = tensor({1., 2.}, {.requires_grad = true}),
               std = tensor({{1.}, {2.}}, {.requires_grad = true});
  const Tensor x = normal(mean, std);
  CHECK(std::string(x.grad_fn()) == "NormalBackward3");
  CHECK(std::string(normal(mean).grad_fn()) == "NormalBackward1");
  CHECK(std::string(normal(0, std).grad_fn()) == "NormalBackward2");
  x.sum().backward();
  CHECK(values(mean.grad()) == std::vector<double>(2, 0));
  CHECK(values(std.grad()) == std::vector<double>(2, 0));
}

TEST_CASE("random functions refuse bad parameters before the generator advances") {
  const Generator before = get_rng_state();
  CHECK_THROWS_MATCHES(normal(0, -1, {2}), Error,
                       says("[normal] the standard deviation is -1, not >= 0"));
  CHECK_THROWS_MATCHES(normal(tensor({0.}), tensor({-1.})), Error,
                       says("[normal] a standard deviation is -1, not >= 0"));
  CHECK_THROWS_AS(normal(0, tensor({kNaN})), Error);
  CHECK(normal(zeros({0}), ones({0})).shape() == Shape{0});
  CHECK_THROWS_AS(normal(zeros({2}), ones({3})), ShapeError);
  CHECK_THROWS_AS(normal(tensor({1})), DTypeError);
  CHECK_THROWS_AS(normal(0, 1, {2}, {.dtype = int64, .requires_grad = true}), DTypeError);
  CHECK_THROWS_AS(randint(9, {2}, {.requires_grad = true}), DTypeError);
  const Tensor x = zeros({2});
  CHECK_THROWS_MATCHES(x.normal_(0, -1), Error,
                       says("[normal_] the standard deviation is -1, not >= 0"));
  CHECK_THROWS_WITH(x.bernoulli_(2),
                    Catch::Matchers::ContainsSubstring("[bernoulli_] the probability is 2"));
  CHECK_THROWS_WITH(x.uniform_(2, 1), Catch::Matchers::ContainsSubstring("[uniform_] "));
  CHECK_THROWS_WITH(x.exponential_(-1), Catch::Matchers::ContainsSubstring("[exponential_] "));
  CHECK(get_rng_state() == before);
}

TEST_CASE("random functions accept options and give the same numbers with them") {
  Generator a(7), b(7);
  const Tensor x = randn({2}, {.dtype = float64, .requires_grad = true}, a);
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
  CHECK(values(x) == values(randn({2}, float64, b)));
  CHECK(values(rand({2}, TensorOptions{}, a)) == values(rand({2}, float32, b)));
  CHECK(values(randint(9, {5}, {.dtype = float32}, a)) == values(randint(0, 9, {5}, float32, b)));
  CHECK(values(normal(1, 2, {3}, {.dtype = float64}, a)) == values(normal(1, 2, {3}, float64, b)));
  const Tensor like = randn_like(x, {.requires_grad = true}, a);
  CHECK(like.dtype() == float64);
  CHECK(like.requires_grad());
  CHECK(rand_like(x, {.dtype = float32}).dtype() == float32);
}

TEST_CASE("random functions accept a dtype and a generator") {
  Generator a(7), b(7);
  const Tensor x = rand({4}, float64, a);
  CHECK(x.dtype() == float64);
  CHECK(values(x) == values(rand({4}, float64, b)));
  CHECK(randint(0, 2, {3}, boolean, a).dtype() == boolean);
  a = b = Generator(8);
  CHECK(values(rand({4}, a)) == values(rand({4}, float32, b)));
  CHECK(values(randn({4}, a)) == values(randn({4}, float32, b)));
  CHECK(values(normal(1, 2, {4}, a)) == values(normal(1, 2, {4}, float32, b)));
  CHECK(values(randint(2, 90, {4}, a)) == values(randint(2, 90, {4}, int64, b)));
  CHECK(values(randint(90, {4}, a)) == values(randint(90, {4}, int64, b)));
  CHECK_THROWS_AS(randn({2}, int64), DTypeError);
  CHECK_THROWS_WITH(randperm(-1), "[randperm] needs 0 elements or more, got -1");
  CHECK_THROWS_AS(multinomial(tensor(0.5), 1), ShapeError);
}

TEST_CASE("filling a tensor with random numbers stops the gradient to its history") {
  const Tensor x = Tensor(ones({3})).requires_grad_();
  const Tensor y = x * 2;
  y.uniform_();
  CHECK(std::string(y.grad_fn()) == "UniformBackward0");
  CHECK(y.version() == 1);
  y.sum().backward();
  CHECK(same(x.grad(), {0, 0, 0}));
}

TEST_CASE("bernoulli_ sends zero gradients to its probabilities") {
  const Tensor p = full({2}, 0.5, float64).requires_grad_(), x = ones({3, 2});
  x.bernoulli_(p.expand({3, 2}));
  x.sum().backward();
  CHECK((p.grad() == 0).all().item<bool>());
}

TEST_CASE("a leaf that requires grad cannot be filled with random numbers") {
  const Tensor x = Tensor(ones({3})).requires_grad_();
  CHECK_THROWS_AS(x.normal_(), AutogradError);
  CHECK(values(x) == std::vector<double>{1, 1, 1});
  const NoGradGuard no_grad;
  x.fill_(2).normal_();
  CHECK(x.is_leaf());
}

TEST_CASE("dropout keeps and scales the same elements as PyTorch") {
  manual_seed(123);
  Tensor x = tensor({{1., 2., 3., 4.}, {5., 6., 7., 8.}, {9., 10., 11., 12.}}).requires_grad_();
  const Tensor y = dropout(x, 0.3);
  CHECK_THAT(values(y), near({1.4285714626312256, 2.857142925262451, 4.285714149475098,
                              5.714285850524902, 7.142857551574707, 8.571428298950195, 10,
                              11.428571701049805, 0, 14.285715103149414, 0, 17.14285659790039}));
  CHECK(std::string(y.grad_fn()) == "MulBackward0");
  // For a transposed tensor, the random numbers of the mask follow the order in memory.
  CHECK_THAT(values(dropout(x.t(), 0.3)),
             near({1.4285714626312256, 0, 12.85714340209961, 2.857142925262451, 8.571428298950195,
                   14.285715103149414, 4.285714149475098, 10, 15.714285850524902, 5.714285850524902,
                   11.428571701049805, 17.14285659790039}));
  CHECK(rand({1}).item() == 0.9455063343048096);

  y.sum().backward();
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);  // backward freed the mask, as in PyTorch
  const float scale = 1.0F / static_cast<float>(1 - 0.3);
  CHECK(x.grad()[{0, 0}].item<float>() == scale);
  CHECK(x.grad()[{2, 0}].item<float>() == 0);
}

TEST_CASE("dropout rounds 1 - p before it divides by it, as PyTorch does") {
  // For 0.45, the order of the two operations changes the result.
  const Tensor y = dropout(ones({100}), 0.45);
  CHECK(y.max().item<float>() == 1.0F / static_cast<float>(1 - 0.45));
  CHECK(y.max().item<float>() != static_cast<float>(1 / (1 - 0.45)));
}

TEST_CASE("dropout multiplies by its mask on every target and is twice differentiable") {
  test::for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      for (const std::int64_t count : {1, 3, 16, 77, 140000}) {
        INFO(target << " " << count << " of " << dtype_name(dtype));
        Generator one(9), other(9);
        const Tensor x = randn({count}, dtype, one);
        randn({count}, dtype, other);
        x.array().select(0, 0).fill(std::numeric_limits<double>::infinity());
        const Tensor leaf = x.clone().requires_grad_();
        const Tensor y = dropout(leaf, 0.4, true, one);
        const Tensor mask = dropout(ones({count}, dtype), 0.4, true, other);
        CHECK(test::same_bits(y.array(), mul(x, mask).array()));
        const Tensor cotangent = randn({count}, dtype, one).requires_grad_();
        const Tensor grad = autograd::grad({y}, {leaf}, {cotangent}, {.create_graph = true}).at(0);
        CHECK(test::same_bits(grad.array(), mul(cotangent, mask).array()));
        const Tensor again = autograd::grad({grad}, {cotangent}, {x}).at(0);
        CHECK(test::same_bits(again.array(), mul(x, mask).array()));
      }
    }
  });
}

TEST_CASE("dropout that drops nothing or everything uses no random numbers") {
  const Generator before(5);
  Generator generator = before;
  const Tensor x = tensor({1., 2.});
  CHECK(dropout(x, 0, true, generator).impl() == x.impl());
  CHECK(dropout(x, 0.5, false, generator).impl() == x.impl());
  CHECK(values(dropout(x, 1, true, generator)) == std::vector<double>{0, 0});
  CHECK(generator == before);
}

TEST_CASE("dropout refuses integers and probabilities outside of 0 to 1") {
  CHECK_THROWS_MATCHES(dropout(tensor({1, 2})), DTypeError,
                       says("[dropout] needs float32 or float64, got int64"));
  CHECK_THROWS_MATCHES(dropout(tensor({1.}), 1.5), Error,
                       says("[dropout] the probability of dropout is 1.5, not in [0, 1]"));
  CHECK_THROWS_AS(dropout(tensor({1.}), -0.1), Error);
}

TEST_CASE("random numbers for transposed tensors have PyTorch's order") {
  const RngStateGuard guard;
  const Tensor x = linspace(-1, 1, 40).view({5, 8});
  const auto same_for_copy = [&](auto draw) {
    manual_seed(3);
    const Tensor found = draw(x.t());
    manual_seed(3);
    return equal(found, draw(x.t().contiguous()));
  };
  CHECK(same_for_copy([](const Tensor& t) { return gumbel_softmax(t); }));
  // MKL's stream fills the elements row by row. The default stream fills them in memory order.
  const auto drop = [](const Tensor& t) { return dropout(t, 0.5); };
  CHECK_FALSE(same_for_copy(drop));
  default_generator().set_bernoulli_stream(BernoulliStream::mkl);
  CHECK(same_for_copy(drop));
}
