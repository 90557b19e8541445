#include <limits>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("matrix products have PyTorch's grad_fn names") {
  Tensor x = Tensor(ones({2, 3})).requires_grad_();
  Tensor batch = Tensor(ones({2, 2, 3})).requires_grad_();
  const Tensor weight = ones({4, 3}), bias = ones({4}), vector = ones({3});
  CHECK(grad_fn(mm(x, x.t())) == "MmBackward0");
  CHECK(grad_fn(mv(x, vector)) == "MvBackward0");
  CHECK(grad_fn(bmm(batch, batch.transpose(1, 2))) == "BmmBackward0");
  CHECK(grad_fn(addmm(bias, x, weight.t())) == "AddmmBackward0");
  CHECK(grad_fn(linear(x, weight, bias)) == "AddmmBackward0");
  CHECK(grad_fn(linear(x, weight, {})) == "MmBackward0");
  CHECK(grad_fn(linear(batch, weight, bias)) == "ViewBackward0");
  CHECK(grad_fn(linear(batch, weight, {})) == "UnsafeViewBackward0");
  CHECK(grad_fn(linear(x[0], weight, bias)) == "ViewBackward0");
  CHECK(grad_fn(linear(x[0], weight, {})) == "SqueezeBackward4");
}

TEST_CASE("products of a fixed rank refuse other ranks") {
  CHECK_THROWS_MATCHES(mm(zeros({2}), zeros({2, 3})), ShapeError,
                       says("[mm] needs tensors of 2 and 2 dimensions, got (2,) and (2, 3)"));
  CHECK_THROWS_MATCHES(mm(zeros({2, 3}), zeros({4, 5})), ShapeError,
                       says("[mm] (2, 3) x (4, 5): dimension -1 of the first must equal dimension "
                            "-2 of the second, but they are 3 and 4"));
  CHECK_THROWS_MATCHES(bmm(zeros({1, 2, 3}), zeros({4, 3, 5})), ShapeError,
                       says("[bmm] (1, 2, 3) x (4, 3, 5): both must have the same dimension 0, but "
                            "it is 1 and 4"));
  CHECK_THROWS_AS(mv(zeros({2, 3}), zeros({3, 1})), ShapeError);
  CHECK_THROWS_MATCHES(mm(zeros({2, 2}), zeros({2, 2}, float64)), DTypeError,
                       says("[mm] the dtypes differ: float32 and float64"));
}

TEST_CASE("a product over an empty dimension adds 0 for any alpha") {
  for (const DType dtype : {float32, float64}) {
    const Tensor one = ones({1}, dtype), left = zeros({1, 0}, dtype), right = zeros({0, 1}, dtype);
    CHECK(addmm(one, left, right, 1, INFINITY).item<double>() == 1);
    CHECK(addmm(one, left, right, 0, INFINITY).item<double>() == 0);
  }
}

TEST_CASE("addmm scales both terms, and beta 0 leaves the first out") {
  const Tensor a = tensor({{1., 2.}, {3., 4.}}),
               nan = full({2}, std::numeric_limits<double>::quiet_NaN());
  CHECK(values(addmm(tensor({1., 10.}), a, a, 2, 0.5)) == std::vector<double>{5.5, 25, 9.5, 31});
  CHECK(values(addmm(nan, a, a, 0)) == values(mm(a, a)));
  const Tensor n = tensor({{1, 2}, {3, 4}});
  CHECK(values(addmm(tensor(1), n, n, 2)) == std::vector<double>{9, 12, 17, 24});
  CHECK_THROWS_MATCHES(addmm(zeros({3}), a, a), ShapeError,
                       says("[addmm] the added tensor has shape (3,), which does not broadcast to "
                            "the product's (2, 2)"));
  CHECK_THROWS_AS(addmm(zeros({2}, float64), a, a), DTypeError);
}

TEST_CASE("linear has the results and gradients of matmul and add") {
  manual_seed(1);
  for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{2, 4, 3}, Shape{0, 3}, Shape{2, 0, 3}}) {
    Tensor x = randn(shape, float64).requires_grad_(), y = x.detach().requires_grad_();
    Tensor w = randn({5, 3}, float64).requires_grad_(), v = w.detach().requires_grad_();
    Tensor b = randn({5}, float64).requires_grad_(), c = b.detach().requires_grad_();
    const Tensor fused = linear(x, w, b), composed = matmul(y, v.t()) + c;
    const Tensor cotangent = randn(fused.shape(), float64);
    CHECK(allclose(fused, composed));
    fused.backward(cotangent);
    composed.backward(cotangent);
    CHECK(allclose(x.grad(), y.grad()));
    CHECK(allclose(w.grad(), v.grad()));
    CHECK(allclose(b.grad(), c.grad()));
  }
}

TEST_CASE("linear without input features returns the bias") {
  CHECK(values(linear(zeros({2, 0}), zeros({2, 0}), tensor({1., 2.}))) ==
        std::vector<double>{1, 2, 1, 2});
}

TEST_CASE("linear names the sizes that do not fit") {
  CHECK_THROWS_MATCHES(linear(zeros({2, 3}), zeros({4, 2}), {}), ShapeError,
                       says("[linear] input (2, 3) and weight (4, 2): the last dimension of the "
                            "input must be the weight's, 2"));
  CHECK_THROWS_MATCHES(linear(zeros({2, 3}), zeros({4, 3}), zeros({3})), ShapeError,
                       says("[linear] the added tensor has shape (3,), which does not broadcast to "
                            "the product's (2, 4)"));
  CHECK_THROWS_AS(linear(zeros({2, 3}), tensor(1.), {}), ShapeError);
  CHECK_THROWS_AS(linear(tensor(1.), zeros({4, 3}), {}), ShapeError);
  CHECK_THROWS_AS(linear(zeros({2, 3}, float64), zeros({4, 3}), {}), DTypeError);
}

TEST_CASE("diag_embed needs two dimensions and trace has no gradient off the diagonal") {
  CHECK_THROWS_MATCHES(diag_embed(zeros({2, 2}), 0, 1, -2), ShapeError,
                       says("[diag_embed] dim1 and dim2 must differ, but both are dimension 1"));
  const Tensor x = ones({2, 2}, float64).requires_grad_();
  trace(x).backward(tensor(kInf, float64));
  CHECK(values(x.grad()) == std::vector<double>{kInf, 0, 0, kInf});
}

TEST_CASE("with beta 0 the added tensor is ignored even if it is NaN") {
  const Tensor nothing = full({2}, kNaN), a = ones({2, 2}), batch = ones({2, 2, 2});
  CHECK(values(addmm(nothing, a, a, 0)) == std::vector<double>(4, 2));
  CHECK(values(addmv(nothing, a, ones({2}), 0)) == std::vector<double>(2, 2));
  CHECK(values(baddbmm(nothing, batch, batch, 0)) == std::vector<double>(8, 2));
  CHECK(values(addbmm(nothing, batch, batch, 0)) == std::vector<double>(4, 4));
}

TEST_CASE("the gradient of a matrix shared by a batch is the sum over the batch") {
  manual_seed(2);
  Tensor batch = randn({4, 2, 3}, float64), w = randn({3, 5}, float64).requires_grad_();
  const Tensor cotangent = randn({4, 2, 5}, float64);
  matmul(batch, w).backward(cotangent);
  const Tensor expected = sum(bmm(batch.transpose(1, 2), cotangent), {0});
  CHECK(allclose(w.grad(), expected));
  Tensor v = randn({3}, float64).requires_grad_();
  matmul(batch, v).sum().backward();
  CHECK(allclose(v.grad(), sum(batch, {0, 1})));
}

TEST_CASE("linear accepts a vector as its weight like PyTorch") {
  const Tensor x = randn({2, 3}, float64), w = randn({3}, float64).requires_grad_();
  const Tensor b = tensor(0.5, float64).requires_grad_();
  CHECK(linear(x, w).equal(matmul(x, w)));
  linear(x, w, b).sum().backward();
  CHECK(w.grad().allclose(x.sum(0)));
  CHECK(b.grad().item() == 2);
  CHECK_THROWS_WITH(linear(x, ones({2}, float64)),
                    Catch::Matchers::StartsWith("[linear] input (2, 3)"));
}
