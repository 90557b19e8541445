// vjp, jvp, jacobian, hessian and hvp, on functions whose derivatives are known in closed form.
#include <tend/autograd/tools/functional.h>

#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/gradcheck.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;
using Tensors = std::vector<Tensor>;

Tensor f64(const NestedNumbers& numbers) {
  return tensor(numbers, float64);
}

const Tensor kMatrix = f64({{1, 2, 3}, {-1, 0.5, 4}});

Tensor linear_map(const Tensor& x) {
  return matmul(kMatrix, x);
}

// x^T A x + sum(x^3), with A not symmetric.
Tensor form(const Tensor& x) {
  static const Tensor a = f64({{1, 2}, {-4, 3}});
  return dot(x, matmul(a, x)) + (x * x * x).sum();
}

}  // namespace

TEST_CASE("The Jacobian of a linear map is its matrix and jvp and vjp multiply by it") {
  const Tensor x = f64({1, -2, 0.5});
  CHECK(values(autograd::jacobian(linear_map, x)) == values(kMatrix));
  const auto right = autograd::jvp(linear_map, {x}, {f64({1, 0, 2})});
  CHECK(values(right.outputs[0]) == values(linear_map(x)));
  CHECK(values(right.product[0]) == V{7, 7});
  const auto left = autograd::vjp(linear_map, {x}, {f64({2, 1})});
  CHECK(values(left.product[0]) == V{1, 4.5, 10});
}

TEST_CASE("The Hessian of a polynomial is correct") {
  const Tensor x = f64({0.5, -1});
  CHECK(values(autograd::hessian(form, x)) == V{2 + 3, -2, -2, 6 - 6});
  const auto product = autograd::hvp(form, {x}, {f64({2, 1})});
  CHECK(values(product.product[0]) == V{8, -4});
  CHECK(values(product.outputs[0]) == values(form(x)));
}

TEST_CASE("jacobian and hessian of several inputs and outputs return a table") {
  const Tensor a = f64({{1, 2}, {3, 4}}), b = f64({5, 6});
  const auto f = [](const Tensor& x, const Tensor& y) -> Tensors {
    return {x * y, y.sum(), x.sum(0)};
  };
  const auto table = autograd::jacobian(f, {a, b});
  REQUIRE(table.size() == 3);
  CHECK(table[0][0].shape() == Shape{2, 2, 2, 2});
  CHECK(table[0][1].shape() == Shape{2, 2, 2});
  CHECK(values(table[0][1]) == V{1, 0, 0, 2, 3, 0, 0, 4});
  CHECK(values(table[1][0]) == V{0, 0, 0, 0});
  CHECK(values(table[1][1]) == V{1, 1});
  CHECK(table[2][0].shape() == Shape{2, 2, 2});
  const auto h =
      autograd::hessian([](const Tensor& x, const Tensor& y) { return (x * y * y).sum(); }, {a, b});
  CHECK(values(h[0][0]) == V(16, 0));
  CHECK(values(h[0][1]) == V{10, 0, 0, 12, 10, 0, 0, 12});
  CHECK(values(h[1][1]) == V{8, 0, 0, 12});
}

TEST_CASE("Products agree with the Jacobian of a function that is not linear") {
  const auto f = [](const Tensor& x) { return softmax(x * x, -1); };
  const Tensor x = f64({{0.3, -0.5, 0.8}, {1, 0.2, -0.1}});
  const Tensor v = f64({{1, 2, -1}, {0.5, 0, 3}});
  const Tensor j = autograd::jacobian(f, x).view({6, 6});
  const auto close = [](const Tensor& a, const Tensor& b) { return allclose(a, b, 1e-12, 1e-14); };
  CHECK(close(autograd::jvp(f, {x}, {v}).product[0].view({6}), matmul(j, v.view({6}))));
  CHECK(close(autograd::vjp(f, {x}, {v}).product[0].view({6}), matmul(v.view({6}), j)));
}

TEST_CASE("Results have a graph to the caller's inputs if create_graph is true") {
  const Tensor x = f64({0.5, -1}).requires_grad_();
  CHECK_FALSE(autograd::hessian(form, x).requires_grad());
  CHECK(gradcheck([](const Tensor& t) { return autograd::hessian(form, t, true); }, {x}));
  const Tensor v = f64({2, 1}).requires_grad_();
  const auto products = [](const Tensor& t, const Tensor& u) -> Tensors {
    const auto cube = [](const Tensor& z) { return z * z * z; };
    return {autograd::jvp(cube, {t}, {u}, true).product[0],
            autograd::vjp(cube, {t}, {u}, true).product[0],
            autograd::hvp(form, {t}, {u}, true).product[0]};
  };
  CHECK(gradcheck(products, {x, v}));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("The derivative of an output by an input that it does not depend on is zero") {
  const auto f = [](const Tensor& x, const Tensor&) -> Tensors { return {x * 2, f64({1, 2})}; };
  const Tensor x = f64({1, 2}), y = f64({3});
  CHECK(values(autograd::jacobian(f, {x, y})[1][0]) == V{0, 0, 0, 0});
  const auto product = autograd::jvp(f, {x, y}, {f64({1, 1}), f64({1})});
  CHECK(values(product.product[0]) == V{2, 2});
  CHECK(values(product.product[1]) == V{0, 0});
  CHECK(autograd::jacobian(f, {x, y})[0][1].shape() == Shape{2, 1});
}

TEST_CASE("Vectors that do not fit are refused") {
  const Tensor x = f64({1, -2, 0.5});
  CHECK_THROWS_MATCHES(autograd::jvp(linear_map, {x}, {f64({1, 2})}), ShapeError,
                       says("[jvp] the vectors must have the shapes of the inputs, but vector 0 "
                            "has shape (2,), not (3,)"));
  CHECK_THROWS_MATCHES(autograd::vjp(linear_map, {x}, {x}), ShapeError,
                       says("[vjp] the vectors must have the shapes of the outputs, but vector 0 "
                            "has shape (3,), not (2,)"));
  CHECK_THROWS_MATCHES(autograd::vjp(linear_map, {x}), ShapeError,
                       says("[vjp] the function must return a single element, but returned "
                            "shape (2,)"));
  CHECK_THROWS_MATCHES(autograd::hessian(linear_map, x), ShapeError,
                       says("[hessian] the function must return a single element, but returned "
                            "shape (2,)"));
  CHECK_THROWS_MATCHES(autograd::hvp(form, {f64({1, 2})}, {}), ShapeError,
                       says("[hvp] needs a vector for each of the 1 inputs, got 0"));
  const auto two = [](const Tensor& t) -> Tensors { return {t.sum(), t.sum()}; };
  CHECK_THROWS_MATCHES(autograd::hessian(two, x), ShapeError,
                       says("[hessian] the function must return one tensor, but returned 2"));
  CHECK_THROWS_MATCHES(autograd::jacobian(two, x), ShapeError,
                       says("[jacobian] the function must return one tensor, but returned 2"));
  CHECK_THROWS_MATCHES(autograd::jacobian(linear_map, Tensors{}), AutogradError,
                       says("[jacobian] needs at least one input"));
}

TEST_CASE("Outputs without a derivative are allowed") {
  const auto f = [](const Tensor& x) -> Tensors { return {x * x, argmax(x)}; };
  const Tensor x = f64({1, 3});
  const auto product = autograd::jvp(f, {x}, {f64({1, 2})});
  CHECK(values(product.product[0]) == V{2, 12});
  CHECK(product.product[1].dtype() == int64);
  const auto whole = [](const Tensor& t) { return argmax(t); };
  CHECK(autograd::jvp(whole, {x}, {f64({1, 2})}).product[0].dtype() == int64);
  const auto none = [](const Tensor& t) { return t.narrow(0, 0, 0); };
  CHECK(autograd::jacobian(none, x).shape() == Shape{0, 2});
  const InferenceModeGuard guard;
  CHECK(values(autograd::jacobian([](const Tensor& t) { return t * t; }, x)) == V{2, 0, 0, 6});
}

TEST_CASE("An error about a wrong number of inputs names the function that was called") {
  const auto two = [](const Tensor& x, const Tensor& y) { return x * y; };
  const std::vector<Tensor> one{ones({2})};
  const auto message = [](const char* operation) {
    return std::string("[") + operation + "] the function takes 2 tensors, got 1";
  };
  CHECK_THROWS_WITH(autograd::vjp(two, one), message("vjp"));
  CHECK_THROWS_WITH(autograd::jvp(two, one, one), message("jvp"));
  CHECK_THROWS_WITH(autograd::jacobian(two, one), message("jacobian"));
  CHECK_THROWS_WITH(autograd::hessian(two, one), message("hessian"));
  CHECK_THROWS_WITH(autograd::hvp(two, one, one), message("hvp"));
  CHECK_THROWS_WITH(autograd::checkpoint(two, one), message("checkpoint"));
  CHECK_THROWS_WITH(gradcheck(two, {ones({2}, float64).requires_grad_()}), message("gradcheck"));
  CHECK_THROWS_WITH(gradgradcheck(two, {ones({2}, float64).requires_grad_()}),
                    message("gradgradcheck"));
  CHECK_THROWS_WITH(autograd::hessian(two, std::vector<Tensor>{}),
                    "[hessian] needs at least one input");
}
