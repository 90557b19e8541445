#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("scatter_reduce accepts every dtype that PyTorch accepts") {
  using enum ScatterReduction;
  const Tensor index = tensor({0, 0, 2, 0});
  const auto of = [&](DType dtype, ScatterReduction reduce, bool include_self) {
    const Tensor x = tensor({5, 7, 0, -3}, dtype), source = tensor({2, 4, -1, -3}, dtype);
    return values(x.scatter_reduce(0, index, source, reduce, include_self));
  };
  using Numbers = std::vector<double>;
  // The results of PyTorch 2.6.
  CHECK(of(int64, mean, true) == Numbers{2, 7, -1, -3});
  CHECK(of(int64, mean, false) == Numbers{1, 7, -1, -3});
  CHECK(of(float32, mean, true) == Numbers{2, 7, -0.5, -3});
  CHECK(of(int64, prod, false) == Numbers{-24, 7, -1, -3});
  CHECK(of(int64, amax, false) == Numbers{4, 7, -1, -3});
  CHECK(of(int64, amin, false) == Numbers{-3, 7, -1, -3});
  CHECK(of(boolean, sum, true) == Numbers{1, 1, 1, 1});
  CHECK(of(boolean, prod, true) == Numbers{1, 1, 0, 1});
  CHECK(of(boolean, amax, true) == Numbers{1, 1, 1, 1});
  CHECK(of(boolean, amin, true) == Numbers{1, 1, 0, 1});
  CHECK_THROWS_MATCHES(of(boolean, mean, true), DTypeError,
                       says("[scatter_reduce] bool has no mean"));
  const Tensor nan = tensor({std::nan(""), 1.})
                         .scatter_reduce(0, tensor({0, 1}), tensor({1., std::nan("")}), amin);
  CHECK(values(nan.isnan()) == Numbers{1, 1});
  CHECK(tensor(3.).scatter_reduce(0, tensor(0), tensor(4.), mean).item() == 3.5);
}

TEST_CASE("an empty index scatters nothing for a source of any rank") {
  const Tensor self = ones({2, 3}, {.requires_grad = true}), index = zeros({0, 2}, int64);
  const Tensor source = tensor(3., {.requires_grad = true});
  for (const Tensor& result : {scatter_add(self, 1, index, source), scatter(self, 1, index, source),
                               scatter_reduce(self, 1, index, source, "sum"),
                               scatter_reduce(self, 1, index, source, "prod"),
                               scatter_reduce(self, 1, index, source, "amax", false)}) {
    CHECK(equal(result, self));
    const std::vector<Tensor> grads = autograd::grad({result.sum()}, {self, source});
    CHECK(equal(grads[0], ones({2, 3})));
    CHECK(equal(grads[1], tensor(0.)));
  }
}

TEST_CASE("scatter_reduce with amax divides the gradient among the equal largest terms") {
  const Tensor index = tensor({0, 0, 0});
  Tensor x = tensor({5., 1.}).requires_grad_(), source = tensor({5., 2., 5.}).requires_grad_();
  const auto gradients = [&](bool include_self) {
    return autograd::grad(
        {x.scatter_reduce(0, index, source, ScatterReduction::amax, include_self).sum()},
        {x, source});
  };
  // One third, rounded to float32 like the gradients.
  const double third = double{1.0F / 3};
  CHECK(values(gradients(true)[0]) == std::vector<double>{third, 1});
  CHECK(values(gradients(true)[1]) == std::vector<double>{third, 0, third});
  CHECK(values(gradients(false)[0]) == std::vector<double>{0, 1});
  CHECK(values(gradients(false)[1]) == std::vector<double>{0.5, 0, 0.5});
}

TEST_CASE("the derivatives of a scattered product are right if factors are zero") {
  using Numbers = std::vector<double>;
  const Tensor index = tensor({0, 0, 1, 1, 1});
  Tensor x = tensor({3., 0., 1.}).requires_grad_();
  Tensor source = tensor({0., 2., 5., 0., 0.}).requires_grad_();
  const Tensor y = x.scatter_reduce(0, index, source, ScatterReduction::prod);
  const std::vector<Tensor> first =
      autograd::grad({y.sum()}, {x, source}, {}, {.create_graph = true});
  CHECK(values(first[0]) == Numbers{0, 0, 1});
  CHECK(values(first[1]) == Numbers{6, 0, 0, 0, 0});
  // As in PyTorch, there is a second derivative only if each position gets at most one zero.
  CHECK_THROWS_MATCHES(first[1].sum().backward(), AutogradError,
                       says("[scatter_reduce] no second derivative of a product in which several "
                            "zeros of the source go to one position"));

  Tensor z = tensor({3., 0.}).requires_grad_(), factors = tensor({0., 2., 4., 5.}).requires_grad_();
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return a.scatter_reduce(0, tensor({0, 0, 1, 1}), b, ScatterReduction::prod);
  };
  const std::vector<Tensor> slopes =
      autograd::grad({product(z, factors).sum()}, {z, factors}, {}, {.create_graph = true});
  CHECK(values(slopes[0]) == Numbers{0, 20});
  CHECK(values(slopes[1]) == Numbers{6, 0, 0, 0});
  const std::vector<Tensor> second =
      autograd::grad({slopes[0].sum(), slopes[1].sum()}, {z, factors});
  CHECK(values(second[0]) == Numbers{2, 9});
  CHECK(values(second[1]) == Numbers{5, 3, 5, 4});
}

TEST_CASE("backward notices that a saved index has changed") {
  const Tensor x = Tensor(zeros({3})).requires_grad_();
  const Tensor index = tensor({0, 1});
  const Tensor picked = x.gather(0, index);
  index.fill_(2);
  CHECK_THROWS_AS(picked.sum().backward(), AutogradError);
}

TEST_CASE("embedding also accepts the argument order of torch.embedding") {
  const Tensor weight = tensor({{1., 2.}, {3., 4.}});
  CHECK(embedding(weight, tensor({1, 0})).equal(embedding(tensor({1, 0}), weight)));
  // If both tensors contain integers, the first is the index.
  const Tensor table = tensor({{5, 6}, {7, 8}});
  CHECK(embedding(tensor({1}), table).equal(tensor({{7, 8}})));
}

TEST_CASE("embedding gives the padding row no gradient") {
  Tensor weight = Tensor(ones({3, 2})).requires_grad_();
  embedding(tensor({0, 2, 2, 1}), weight, -1).sum().backward();
  CHECK(values(weight.grad()) == std::vector<double>{1, 1, 1, 1, 0, 0});
}

TEST_CASE("sort is stable and sends gradients back") {
  Tensor x = tensor({2., 1., 2., 0.}).requires_grad_();
  const auto [sorted, places] = x.sort();
  CHECK(values(sorted) == std::vector<double>{0, 1, 2, 2});
  CHECK(values(places) == std::vector<double>{3, 1, 0, 2});
  sorted.backward(tensor({1., 2., 3., 4.}));
  CHECK(values(x.grad()) == std::vector<double>{3, 2, 4, 1});
  CHECK(values(x.sort(0, true).indices) == std::vector<double>{0, 2, 1, 3});
  CHECK(std::string(sorted.grad_fn()) == "SortBackward0");
  CHECK(tensor(1.).sort().values.dim() == 0);
  CHECK(zeros({0}).sort().indices.shape() == Shape{0});
}

TEST_CASE("topk returns the largest elements first and NaN before all numbers") {
  const Tensor x = tensor({3., 1., std::nan(""), 2.});
  CHECK(same(x.topk(2).values, {std::nan(""), 3}));
  CHECK(values(x.topk(2, 0, false).indices) == std::vector<double>{1, 3});
  CHECK(x.topk(0).values.shape() == Shape{0});
  CHECK(tensor(5.).topk(1).values.dim() == 0);
  Tensor y = tensor({{1., 2.}, {4., 3.}}).requires_grad_();
  y.topk(1, 0).values.sum().backward();
  CHECK(values(y.grad()) == std::vector<double>{0, 0, 1, 1});
  CHECK_THROWS_MATCHES(y.topk(3), ShapeError,
                       says("[topk] k = 3, but dimension 1 of (2, 2) has 2 elements"));
  CHECK_THROWS_AS(y.topk(-1), ShapeError);
}
