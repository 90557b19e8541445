#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("scatter_add gives no gradient to source elements that the index leaves out") {
  Tensor source = Tensor(ones({4, 6})).requires_grad_();
  const Tensor index = tensor({{0, 1, 1}});
  const Tensor sums = zeros({2, 2}).scatter_add(1, index, source);
  CHECK(values(sums) == std::vector<double>{1, 2, 0, 0});
  (sums * tensor({{2., 3.}, {4., 5.}})).sum().backward();
  CHECK(source.grad().sum().item() == 8);
  CHECK(values(source.grad()[{0, Slice{0, 4}}]) == std::vector<double>{2, 3, 3, 0});
}

TEST_CASE("scatter_reduce takes every dtype that PyTorch's does") {
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

TEST_CASE("scatter_reduce shares the gradient of the largest among equal terms") {
  const Tensor index = tensor({0, 0, 0});
  Tensor x = tensor({5., 1.}).requires_grad_(), source = tensor({5., 2., 5.}).requires_grad_();
  const auto gradients = [&](bool include_self) {
    return autograd::grad(
        {x.scatter_reduce(0, index, source, ScatterReduction::amax, include_self).sum()},
        {x, source});
  };
  // Thirds of 1, which float32 rounds alike on both sides.
  const double third = double{1.0F / 3};
  CHECK(values(gradients(true)[0]) == std::vector<double>{third, 1});
  CHECK(values(gradients(true)[1]) == std::vector<double>{third, 0, third});
  CHECK(values(gradients(false)[0]) == std::vector<double>{0, 1});
  CHECK(values(gradients(false)[1]) == std::vector<double>{0.5, 0, 0.5});
}

TEST_CASE("the derivatives of a scattered product are right where there are zeros") {
  using Numbers = std::vector<double>;
  const Tensor index = tensor({0, 0, 1, 1, 1});
  Tensor x = tensor({3., 0., 1.}).requires_grad_();
  Tensor source = tensor({0., 2., 5., 0., 0.}).requires_grad_();
  const Tensor y = x.scatter_reduce(0, index, source, ScatterReduction::prod);
  const std::vector<Tensor> first =
      autograd::grad({y.sum()}, {x, source}, {}, {.create_graph = true});
  CHECK(values(first[0]) == Numbers{0, 0, 1});
  CHECK(values(first[1]) == Numbers{6, 0, 0, 0, 0});
  // As in PyTorch, only where at most one zero goes to a position.
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

TEST_CASE("gather and scatter_add take 0-d tensors") {
  Tensor x = tensor(5.).requires_grad_();
  CHECK(x.gather(0, tensor(0)).item() == 5);
  const Tensor twice = x.gather(0, tensor({0, 0}));
  CHECK(values(twice) == std::vector<double>{5, 5});
  twice.sum().backward();
  CHECK(x.grad().item() == 2);
}

TEST_CASE("index_select by a number keeps the dimension") {
  Tensor x = tensor({{1., 2.}, {3., 4.}}).requires_grad_();
  const Tensor column = x.index_select(1, tensor(1));
  CHECK(column.shape() == Shape{2, 1});
  column.sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 1, 0, 1});
  CHECK(tensor(7.).index_select(0, tensor({0})).item() == 7);
}

TEST_CASE("index_add adds slices as often as they are named") {
  Tensor source = tensor({{1., 2.}, {3., 4.}}).requires_grad_();
  const Tensor sum = zeros({3, 2}).index_add(0, tensor({2, 2}), source);
  CHECK(values(sum) == std::vector<double>{0, 0, 0, 0, 4, 6});
  sum[{2, 0}].backward();
  CHECK(values(source.grad()) == std::vector<double>{1, 0, 1, 0});
}

TEST_CASE("indices out of range are refused with the tensor's shape") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_MATCHES(x.gather(1, tensor({{3}})), IndexError,
                       says("[gather] index 3 is out of range for dimension 1 of (2, 3)"));
  CHECK_THROWS_MATCHES(x.index_select(0, tensor({-1})), IndexError,
                       says("[index_select] index -1 is out of range for dimension 0 of (2, 3)"));
  CHECK_THROWS_MATCHES(embedding(tensor({0, 2}), x), IndexError,
                       says("[embedding] index 2 is out of range for dimension 0 of (2, 3)"));
  CHECK_THROWS_AS(x.gather(0, tensor({{0.}})), DTypeError);
}

TEST_CASE("an index that changed since is noticed by backward") {
  const Tensor x = Tensor(zeros({3})).requires_grad_();
  const Tensor index = tensor({0, 1});
  const Tensor picked = x.gather(0, index);
  index.fill_(2);
  CHECK_THROWS_AS(picked.sum().backward(), AutogradError);
}

TEST_CASE("embedding gives rows for indices of any shape") {
  Tensor weight = tensor({{1., 2.}, {3., 4.}, {5., 6.}}).requires_grad_();
  const Tensor rows = embedding(tensor({{2, 0}, {2, 2}}), weight);
  CHECK(rows.shape() == Shape{2, 2, 2});
  CHECK(values(rows) == std::vector<double>{5, 6, 1, 2, 5, 6, 5, 6});
  rows.sum().backward();
  CHECK(values(weight.grad()) == std::vector<double>{1, 1, 0, 0, 3, 3});
  CHECK(embedding(tensor(1), weight).shape() == Shape{2});
  CHECK(embedding(zeros({0}, int64), weight).shape() == Shape{0, 2});
}

TEST_CASE("embedding takes torch.embedding's order, too, and tells it by the dtypes") {
  const Tensor weight = tensor({{1., 2.}, {3., 4.}});
  CHECK(embedding(weight, tensor({1, 0})).equal(embedding(tensor({1, 0}), weight)));
  // Of two tensors of integers the first has the indices.
  const Tensor table = tensor({{5, 6}, {7, 8}});
  CHECK(embedding(tensor({1}), table).equal(tensor({{7, 8}})));
}

TEST_CASE("embedding gives the padding row no gradient") {
  Tensor weight = Tensor(ones({3, 2})).requires_grad_();
  embedding(tensor({0, 2, 2, 1}), weight, -1).sum().backward();
  CHECK(values(weight.grad()) == std::vector<double>{1, 1, 1, 1, 0, 0});
}

TEST_CASE("embedding refuses weights that are no matrix, and padding outside of it") {
  CHECK_THROWS_MATCHES(embedding(tensor({0}), zeros({3})), ShapeError,
                       says("[embedding] the weight has shape (3,), not (num_embeddings, "
                            "embedding_dim)"));
  CHECK_THROWS_MATCHES(embedding(tensor({0}), zeros({3, 2}), 3), IndexError,
                       says("[embedding] padding_idx 3 is out of range for dimension 0 of (3, 2)"));
  CHECK_THROWS_AS(embedding(tensor({0}), zeros({3, 2}), -4), IndexError);
  CHECK_THROWS_AS(embedding(tensor({0.}), zeros({3, 2})), DTypeError);
}

TEST_CASE("take_along_dim of a number takes it at index 0 alone") {
  const Tensor x = tensor(7.0, float64).requires_grad_();
  const Tensor y = take_along_dim(x, tensor(0), 0);
  CHECK(y.shape() == Shape{});
  CHECK(y.item() == 7);
  y.backward();
  CHECK(x.grad().item() == 1);
  CHECK_THROWS_AS(take_along_dim(x, tensor(1), 0), IndexError);
}

TEST_CASE("one_hot counts the classes when it is not told") {
  CHECK(values(one_hot(tensor({1, 2}))) == std::vector<double>{0, 1, 0, 0, 0, 1});
  CHECK(values(one_hot(tensor(1), 3)) == std::vector<double>{0, 1, 0});
  CHECK(one_hot(zeros({0, 2}, int64), 3).shape() == Shape{0, 2, 3});
  CHECK(one_hot(tensor({1}), 2).dtype() == int64);
  CHECK_THROWS_AS(one_hot(zeros({0}, int64)), ShapeError);
  CHECK_THROWS_MATCHES(one_hot(tensor({1, 2}), 2), IndexError,
                       says("[one_hot] index 2 is out of range for dimension 1 of (2, 2)"));
  CHECK_THROWS_MATCHES(one_hot(tensor({-5})), IndexError,
                       says("[one_hot] index -5 is out of range for dimension 1 of (1, 1)"));
  CHECK_THROWS_MATCHES(one_hot(tensor({1.5F})), DTypeError,
                       says("[one_hot] the index is float32, not int64"));
  CHECK_THROWS_AS(one_hot(tensor({1}), -2), ShapeError);
  CHECK_THROWS_AS(one_hot(tensor({1.})), DTypeError);
}

TEST_CASE("sort keeps the order of equals and sends gradients back") {
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

TEST_CASE("topk gives the best first, NaN before all numbers") {
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

TEST_CASE("a 0-d tensor takes one index, whichever shape it has") {
  const Tensor x = tensor(7.);
  CHECK(x.index_select(0, tensor(0)).item() == 7);
  for (const std::int64_t count : {0, 2}) {
    CAPTURE(count);
    const Tensor index = zeros({count}, int64);
    CHECK_THROWS_MATCHES(
        x.index_select(0, index), ShapeError,
        says(as_text("[index_select] a 0-d tensor takes one index, not an index of "
                     "shape ",
                     index.shape())));
    CHECK_THROWS_AS(x.index_add(0, index, ones({count})), ShapeError);
    CHECK_THROWS_AS(x.index_add_(0, index, ones({count})), ShapeError);
  }
  CHECK(x.index_add(0, tensor({0}), tensor(1.)).item() == 8);
  CHECK(x.index_add_(0, tensor(0), tensor(1.)).item() == 8);
}

TEST_CASE("index_add wants a source of self's rank, in place too") {
  for (const Tensor& index : {tensor(1), tensor({1})}) {
    const Tensor x = arange(4.);
    CHECK(same(x.index_add(0, index, tensor({2.})), {0, 3, 2, 3}));
    CHECK_THROWS_AS(x.index_add(0, index, tensor(2.)), ShapeError);
    CHECK_THROWS_MATCHES(x.index_add_(0, index, tensor(2.)), ShapeError,
                         says("[index_add_] source () has another rank than (4,)"));
    CHECK_THROWS_AS(zeros({2, 3}).index_add(0, index, ones({3})), ShapeError);
    CHECK_THROWS_AS(zeros({2, 3}).index_add_(0, index, ones({3})), ShapeError);
    CHECK(same(x, {0, 1, 2, 3}));
    CHECK(same(x.index_add_(0, index, tensor({2.})), {0, 3, 2, 3}));
  }
}

TEST_CASE("topk of a number is the number, even where none is asked for") {
  const Tensor x = tensor(5.).requires_grad_();
  for (const std::int64_t k : {0, 1}) {
    const auto [value, index] = x.topk(k);
    CHECK(value.item() == 5);
    CHECK(index.item() == 0);
    CHECK(autograd::grad({value}, {x})[0].item() == 1);
  }
}

TEST_CASE(
    "The row of an embedding's padding has gradient zero, also where an infinite one arrives") {
  const Tensor weight = ones({2, 3}, {.dtype = float64, .requires_grad = true});
  const Tensor infinite = full({2, 3}, std::numeric_limits<double>::infinity(), float64);
  embedding(tensor({0, 1}), weight, 0).backward(infinite);
  CHECK(equal(weight.grad()[0], zeros({3}, float64)));
  CHECK(equal(weight.grad()[1], infinite[1]));
}

TEST_CASE("sizes that no memory has are named by their operation") {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  using Catch::Matchers::StartsWith;
  CHECK_THROWS_WITH(one_hot(tensor({3}), kLargest), StartsWith("[one_hot]"));
  CHECK_THROWS_WITH(bincount(tensor({kLargest - 1})), StartsWith("[bincount]"));
  CHECK_THROWS_WITH(bincount(tensor({kLargest - 1}), ones({1})), StartsWith("[bincount]"));
  CHECK_THROWS_WITH(repeat_interleave(ones({2}), kLargest), StartsWith("[repeat_interleave]"));
  CHECK(bincount(zeros({0}, int64), zeros({0}), 3).dtype() == int64);  // as PyTorch's
}
