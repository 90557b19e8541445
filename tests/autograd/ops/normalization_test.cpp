#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("layer_norm gives PyTorch's values and gradients") {
  Tensor x = tensor({{1., 2., 4., -3.}, {0., 0., 1., 0.}}, float64).requires_grad_();
  Tensor weight = tensor({1., 2., 0.5, -1.}, float64).requires_grad_();
  Tensor bias = tensor({0., 1., 0., 1.}, float64).requires_grad_();
  const Tensor y = layer_norm(x, {4}, weight, bias);
  CHECK(std::string(y.grad_fn()) == "NativeLayerNormBackward0");
  CHECK_THAT(values(y), near({0, 1.7844639371191704, 0.5883479528393779, 2.568927874238341,
                              -0.5773348737982603, -0.15466974759652063, 0.8660023106973904,
                              1.5773348737982604}));
  y.backward(tensor({{0., 1., 2., 3.}, {4., 5., 6., 7.}}, float64));
  CHECK_THAT(values(x.grad()), near({0, 0.5280049676132409, -0.37714493995820364,
                                     -0.15086002765503737, 3.8488786322876285, 17.704915603445876,
                                     6.157910231863184e-05, -21.553855814835828}));
  CHECK_THAT(values(weight.grad()), near({-2.3093394951930413, -2.4944424004317165,
                                          12.745419539726196, -8.748127739302845}));
  CHECK(values(bias.grad()) == std::vector<double>{4, 6, 8, 10});
}

TEST_CASE("layer_norm of equal numbers is 0, wherever they are") {
  for (const double number : {101.3, -1e5, 3e-7}) {
    const Tensor y = layer_norm(full({3, 1000}, number), {1000}, {}, {});
    CHECK(y.abs().max().item<float>() == 0);
  }
}

TEST_CASE("the kernels of layer_norm agree with the formulas, for rows of any length") {
  manual_seed(3);
  // Rows of less than a vector, of several with a rest, and more rows than one chunk of work.
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 37}, Shape{700, 100}}) {
    for (const DType dtype : {float32, float64}) {
      const Shape normalized{shape.back()};
      const Tensor x = randn(shape, dtype).requires_grad_();
      const Tensor weight = randn(normalized, dtype).requires_grad_();
      const Tensor bias = randn(normalized, dtype).requires_grad_();
      const Tensor y = layer_norm(x, normalized, weight, bias);
      const Tensor distance = x - x.mean(-1, true);
      const Tensor formula = distance / sqrt(x.var(-1, 0, true) + 1e-5) * weight + bias;
      // float32 rounds a few times more or less than the formula, and sums of up to 700 rows
      // differ.
      const double tolerance = dtype == float32 ? 1e-4 : 1e-12;
      CHECK(allclose(y, formula, tolerance, tolerance));
      const Tensor cotangent = randn(shape, dtype);
      const auto grads = [&](bool create_graph) {
        return autograd::grad({y}, {x, weight, bias}, {cotangent}, {true, create_graph, false});
      };
      const std::vector<Tensor> fused = grads(false), composed = grads(true);
      for (std::size_t i = 0; i < 3; ++i)
        CHECK(allclose(fused[i], composed[i].detach(), tolerance, tolerance));
    }
  }
}

TEST_CASE("the kernels of rms_norm agree with the formulas, for rows of any length") {
  manual_seed(3);
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 37}, Shape{700, 100}, Shape{0, 4}}) {
    for (const DType dtype : {float32, float64}) {
      const Shape normalized{shape.back()};
      const Tensor x = randn(shape, dtype).requires_grad_();
      const Tensor weight = randn(normalized, dtype).requires_grad_();
      const Tensor y = rms_norm(x, normalized, weight, 1e-3);
      const Tensor formula = x / sqrt((x * x).mean(-1, true) + 1e-3) * weight;
      const double tolerance = dtype == float32 ? 1e-4 : 1e-12;  // as for layer_norm
      CHECK(allclose(y, formula, tolerance, tolerance));
      const Tensor cotangent = randn(shape, dtype);
      const auto grads = [&](const Tensor& result, bool create_graph) {
        return autograd::grad({result}, {x, weight}, {cotangent}, {true, create_graph, false});
      };
      const std::vector<Tensor> fused = grads(y, false), composed = grads(y, true);
      const std::vector<Tensor> expected = grads(formula, false);
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(allclose(fused[i], expected[i], tolerance, tolerance));
        CHECK(allclose(composed[i].detach(), expected[i], tolerance, tolerance));
      }
    }
  }
}

TEST_CASE("layer_norm normalises over several dimensions, with or without weight and bias") {
  manual_seed(4);
  const Tensor x = randn({5, 2, 3}, float64);
  const Tensor flat = layer_norm(x.view({5, 6}), {6}, {}, {});
  CHECK(allclose(layer_norm(x, {2, 3}, {}, {}).view({5, 6}), flat));
  CHECK(allclose(layer_norm(x, {2, 3}, {}, ones({2, 3}, float64)).view({5, 6}), flat + 1));
  CHECK(allclose(layer_norm(x, {2, 3}, full({2, 3}, 3, float64), {}).view({5, 6}), flat * 3));
  CHECK(allclose(flat.mean({1}), zeros({5}, float64), 0, 1e-12));
}

TEST_CASE("layer_norm takes transposed and expanded inputs") {
  manual_seed(5);
  Tensor x = randn({6, 4}, float64).requires_grad_(), y = x.detach().t().clone().requires_grad_();
  layer_norm(x.t(), {6}, {}, {}).backward(ones({1, 6}, float64).expand({4, 6}).mul(x.detach().t()));
  layer_norm(y, {6}, {}, {}).backward(y.detach());
  CHECK(allclose(x.grad().t(), y.grad()));
}

TEST_CASE("only the gradients that somebody needs are computed") {
  const Tensor x = rand({3, 4});
  Tensor bias = Tensor(zeros({4})).requires_grad_();
  layer_norm(x, {4}, ones({4}), bias).sum().backward();
  CHECK(values(bias.grad()) == std::vector<double>{3, 3, 3, 3});
}

TEST_CASE("layer_norm of nothing is nothing") {
  Tensor weight = Tensor(ones({4})).requires_grad_();
  const Tensor y = layer_norm(zeros({0, 4}), {4}, weight, {});
  CHECK(y.shape() == Shape{0, 4});
  y.sum().backward();
  CHECK(values(weight.grad()) == std::vector<double>{0, 0, 0, 0});
  CHECK(layer_norm(zeros({3, 0}), {0}, {}, {}).shape() == Shape{3, 0});
}

TEST_CASE("layer_norm says what does not fit") {
  const Tensor x = zeros({3, 4});
  CHECK_THROWS_MATCHES(layer_norm(x, {3}, {}, {}), ShapeError,
                       says("[layer_norm] input (3, 4) does not end with normalized_shape (3,)"));
  CHECK_THROWS_MATCHES(layer_norm(x, {}, {}, {}), ShapeError,
                       says("[layer_norm] normalized_shape has no dimensions"));
  CHECK_THROWS_MATCHES(layer_norm(x, {4}, ones({3}), {}), ShapeError,
                       says("[layer_norm] weight (3,) for normalized_shape (4,)"));
  CHECK_THROWS_MATCHES(layer_norm(x, {4}, {}, ones({4}, float64)), DTypeError,
                       says("[layer_norm] bias is float64, the input float32"));
  CHECK_THROWS_AS(layer_norm(x.to(int64), {4}, {}, {}), DTypeError);
  CHECK_THROWS_AS(layer_norm(tensor(1.), {1}, {}, {}), ShapeError);
}

TEST_CASE("rms_norm takes the machine epsilon of its dtype") {
  const Tensor x = full({1, 2}, 1e-4);
  // 1e-8 is less than the epsilon of float32, and more than that of float64.
  CHECK(values(rms_norm(x, {2}, {}))[0] == Approx(1e-4 / std::sqrt(1e-8 + 0x1p-23)));
  CHECK(values(rms_norm(x.to(float64), {2}, {}))[0] == Approx(1).epsilon(1e-6));
}

TEST_CASE("batch_norm writes its running statistics in place, and only when nothing is refused") {
  const Tensor x = tensor({{1., 2.}, {3., 6.}}).requires_grad_();
  const Tensor wide = zeros({2, 2}), mean = wide.select(1, 0), var = ones({2});
  const std::uint32_t version = mean.version();
  const auto train = [&](const Tensor& running_var, const Tensor& weight) {
    return batch_norm(x, mean, running_var, weight, {}, {.training = true, .momentum = 0.5});
  };
  CHECK_THROWS_MATCHES(train(var, ones({3})), ShapeError,
                       says("[batch_norm] weight (3,) for channels (2,)"));
  CHECK_THROWS_AS(train(ones({2}, float64), {}), DTypeError);
  CHECK_THROWS_AS(train(ones({1}).expand({2}), {}), ShapeError);
  CHECK(mean.version() == version);
  train(var, {});
  CHECK(values(wide) == std::vector<double>{1, 0, 2, 0});
  CHECK(values(var) == std::vector<double>{1.5, 4.5});
  CHECK(mean.is_leaf());
  CHECK_THROWS_MATCHES(batch_norm(x, mean, {}, {}, {}), Error,
                       says("[batch_norm] running_var is undefined, which only training can do "
                            "without"));
}

TEST_CASE("a batch of nothing changes no statistics, and has gradients") {
  const Tensor mean = zeros({3}), var = ones({3});
  const Tensor weight = Tensor(ones({3})).requires_grad_();
  const Tensor y = batch_norm(zeros({0, 3}), mean, var, weight, {}, {.training = true});
  CHECK(y.shape() == Shape{0, 3});
  y.sum().backward();
  CHECK(values(weight.grad()) == std::vector<double>{0, 0, 0});
  CHECK(values(mean) == std::vector<double>{0, 0, 0});
  CHECK(batch_norm(zeros({2, 0}), {}, {}, {}, {}, {.training = true}).shape() == Shape{2, 0});
  CHECK(group_norm(zeros({2, 4, 0}), 2, {}, {}).shape() == Shape{2, 4, 0});
}

TEST_CASE("group_norm of one group is layer_norm of an item, and refuses what divides nothing") {
  manual_seed(6);
  const Tensor x = randn({2, 4, 3}, float64);
  CHECK(allclose(group_norm(x, 1, {}, {}), layer_norm(x, {4, 3}, {}, {})));
  CHECK_THROWS_MATCHES(group_norm(x, 0, {}, {}), ShapeError,
                       says("[group_norm] 0 groups do not divide dimension 1 of (2, 4, 3)"));
  CHECK_THROWS_AS(group_norm(x, -2, {}, {}), ShapeError);
}

TEST_CASE("group_norm of no channels has any number of groups") {
  for (const std::int64_t groups :
       {std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()})
    CHECK(group_norm(zeros({2, 0}), groups, {}, {}).shape() == Shape{2, 0});
}

TEST_CASE("batch_norm of tiny numbers without eps has the gradient of its formula") {
  const Tensor x = tensor({0.0, 2e-20, -2e-20, 5e-20}).view({4, 1}).to(float32).requires_grad_();
  const Tensor g = tensor({1.0, 2.0, -1.0, 5.0}).view({4, 1}).to(float32);
  const auto gradient = [&](bool create_graph) {
    const Tensor y = batch_norm(x, {}, {}, {}, {}, {.training = true, .eps = 0});
    const Tensor found = autograd::grad({y}, {x}, {g}, {.create_graph = create_graph})[0];
    return found.detach().to(float64).to_vector<double>();
  };
  const std::vector<double> fused = gradient(false), composed = gradient(true);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    CAPTURE(i, fused[i], composed[i]);
    // float32, with a difference of gradients of twice their size.
    CHECK(std::abs(fused[i] - composed[i]) <= 1e-5 * std::abs(composed[1]));
  }
}

TEST_CASE("batch_norm refuses running statistics that require grad") {
  const Tensor x = randn({3, 2}), mean = zeros({2}).requires_grad_(), var = ones({2});
  for (const bool training : {false, true}) {
    CHECK_THROWS_AS(batch_norm(x, mean, var, {}, {}, {.training = training}), AutogradError);
    CHECK((mean == 0).all().item<bool>());
  }
}
