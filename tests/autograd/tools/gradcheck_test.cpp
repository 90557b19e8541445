#include <cmath>
#include <functional>
#include <utility>

#include <tend/autograd/graph/node.h>
#include <tend/autograd/tools/function.h>
#include <tend/autograd/tools/gradcheck.h>
#include <tend/core/random/random.h>

#include "tests/autograd/support.h"
#include "tests/op_table/op_noise.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;
using tend::test::GradientNoise;
using tend::test::leaf;

namespace {

// x * x. Its gradient is 2 * x, except at one element, where it is `factor` * x.
Tensor square_wrong_at(const Tensor& x, std::int64_t element, double factor) {
  return record("WrongBackward", mul(x.detach(), x.detach()).array(), {x}, {x}, [=](Derivative& d) {
    Tensor slope = d.saved(0) * 2;
    const Tensor flat = slope.view({-1});
    flat[element] = d.saved(0).reshape({-1})[element] * factor;
    d.set(0, d.grad() * slope);
  });
}

}  // namespace

TEST_CASE("gradcheck passes right gradients and says how close they are") {
  const Tensor a = leaf({{1, -2, 0.5}, {0.25, 3, -1}});
  const Tensor b = leaf({{2, 1}, {-1, 0.5}, {4, 3}});
  const GradcheckReport report =
      gradcheck([](const Tensor& x, const Tensor& y) { return matmul(x, y); }, {a, b});
  CHECK(report);
  CHECK(report.inputs.size() == 2);
  CHECK(report.inputs[1].name == "input 1");
  // Central differences of a bilinear function are exact up to rounding: 1e-16 * |f| / eps.
  CHECK(report.inputs[0].max_abs_error < 1e-8);
  CHECK(report.inputs[0].max_abs_error > 0);
  CHECK_THAT(report.message, ContainsSubstring("[gradcheck] passed, worst: input"));
}

TEST_CASE("gradcheck names the worst element of the worst input") {
  const Tensor a = leaf({{1, -2, 0.5}, {0.25, 3, -1}});
  const Tensor b = leaf({{1, 1, 1}, {1, 1, 1}});
  const auto f = [](const Tensor& x, const Tensor& y) {
    return square_wrong_at(x, 0, 2.1) + square_wrong_at(y, 4, 3);
  };
  const GradcheckReport report = gradcheck(f, {a, b}, {.names = {"a", "b"}});
  CHECK_FALSE(report);
  REQUIRE(report.worst == 1);
  const GradcheckEntry& worst = report.inputs[1];
  CHECK_FALSE(worst.passed);
  CHECK(worst.name == "b");
  CHECK(worst.element == 4);
  CHECK(worst.index == Shape{1, 1});
  CHECK(worst.analytic == 3);
  CHECK(worst.numeric == Approx(2).epsilon(1e-8));
  CHECK(worst.abs_error == Approx(1).epsilon(1e-8));
  CHECK(worst.rel_error == Approx(0.5).epsilon(1e-8));
  CHECK_THAT(report.message,
             ContainsSubstring("[gradcheck] failed, worst: b, element 4 at (1, 1), output 0: "
                               "analytic 3, numeric 2"));
  CHECK_FALSE(report.inputs[0].passed);
  CHECK(report.inputs[0].element == 0);
}

TEST_CASE("gradcheck allows atol + rtol times the numeric derivative") {
  const Tensor x = leaf({1.0});
  const auto f = [](const Tensor& t) { return square_wrong_at(t, 0, 2.001); };
  CHECK(gradcheck(f, {x}));  // off by 1e-3, allowed 1e-5 + 1e-3 * 2
  CHECK_FALSE(gradcheck(f, {x}, {.rtol = 0.0004}));
  CHECK(gradcheck(f, {x}, {.atol = 0.00101, .rtol = 0}));
  CHECK_FALSE(gradcheck(f, {x}, {.atol = 0.00099, .rtol = 0}));
}

TEST_CASE("gradcheck projects large Jacobians and still finds the element") {
  const Tensor x = (ones({20, 30}, float64) * 0.5).requires_grad_();
  const auto wrong = [](const Tensor& t) { return square_wrong_at(t, 432, 3); };
  const GradcheckOptions projected{.full_jacobian = 1000};
  CHECK(gradcheck([](const Tensor& t) { return t * t; }, {x}, projected));
  const GradcheckReport report = gradcheck(wrong, {x}, projected);
  CHECK_FALSE(report);
  CHECK(report.inputs[0].element == 432);
  CHECK(report.inputs[0].index == Shape{14, 12});
}

TEST_CASE("gradcheck accepts views, constant outputs, integer outputs and unused inputs") {
  const Tensor base = tensor({{1, 2, 3}, {4, 5, 6}}, float64);
  const Tensor x = base.t().detach().requires_grad_();
  const Tensor unused = leaf({1, 2});
  const GradcheckReport report = gradcheck(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0][1] * in[0][2], ones({2}, float64), in[0].to(int64)};
      },
      {x, unused, tensor({7, 8})});
  CHECK(report);
  REQUIRE(report.inputs.size() == 2);
  CHECK(report.inputs[1].max_abs_error == 0);
  CHECK(base.to_vector<double>() == std::vector<double>{1, 2, 3, 4, 5, 6});  // restored
}

TEST_CASE("gradcheck notices an output that should have a gradient") {
  const Tensor x = leaf({1, 2});
  const GradcheckReport report = gradcheck([](const Tensor& t) { return t.detach() * 2; }, {x});
  CHECK_FALSE(report);
  CHECK(report.inputs[0].analytic == 0);
  CHECK(report.inputs[0].numeric == Approx(2));
}

TEST_CASE("gradcheck varies parameters that the function captures") {
  const Tensor x = tensor({{1, 2}}, float64);
  const Tensor weight = leaf({{1, 2}, {3, 4}});
  const auto model = [&](const std::vector<Tensor>&) { return matmul(x, weight); };
  const GradcheckReport report = gradcheck(model, {weight});
  CHECK(report);
  CHECK(report.inputs[0].numeric != 0);
}

TEST_CASE("gradcheck passes empty inputs and fails NaN derivatives") {
  CHECK(
      gradcheck([](const Tensor& t) { return t * t; }, {empty({0, 3}, float64).requires_grad_()}));
  const Tensor zero = leaf({0.0});
  const GradcheckReport report = gradcheck([](const Tensor& t) { return t / t; }, {zero});
  CHECK_FALSE(report);
  CHECK(std::isinf(report.inputs[0].abs_error));
}

TEST_CASE("gradcheck refuses inputs and outputs that central differences cannot check") {
  const auto f = [](const Tensor& t) { return t * t; };
  CHECK_THROWS_AS(gradcheck(f, {tensor({1.0, 2.0}).requires_grad_()}), DTypeError);
  CHECK_THROWS_WITH(gradcheck(f, {tensor({1.0, 2.0}).requires_grad_()}, {.names = {"x"}}),
                    "[gradcheck] x is float32: central differences need float64");
  CHECK_THROWS_AS(gradcheck(f, {tensor({1.0}, float64)}), AutogradError);
  CHECK_THROWS_AS(gradcheck(f, {}), AutogradError);
  CHECK_THROWS_WITH(gradcheck(f, {leaf({1.0}), leaf({2.0})}),
                    "[gradcheck] the function takes 1 tensors, got 2");
  CHECK_THROWS_AS(gradcheck([](const Tensor& t) { return t.to(float32); }, {leaf({1.0})}),
                  DTypeError);
  const Tensor expanded = leaf({1.0}).detach().expand({3}).detach().requires_grad_();
  CHECK_THROWS_AS(gradcheck(f, {expanded}), ShapeError);
}

TEST_CASE("gradcheck refuses a function that is not deterministic") {
  double calls = 0;
  const auto f = [&](const Tensor& t) { return t * ++calls; };
  CHECK_THROWS_WITH(gradcheck(f, {leaf({1.0})}),
                    ContainsSubstring("two evaluations differ: element 0 of output 0 is 1 and 2"));
  calls = 0;
  CHECK_NOTHROW(gradcheck(f, {leaf({1.0})}, {.nondet_tol = 1}));
}

TEST_CASE("gradcheck does not change the default generator") {
  manual_seed(5);
  const Generator before = get_rng_state();
  const auto f = [](const Tensor& t) { return t * t * t; };
  gradcheck(f, {leaf({1, 2})}, {.full_jacobian = 0});
  gradgradcheck(f, {leaf({1, 2})});
  CHECK(get_rng_state() == before);
}

TEST_CASE("gradgradcheck passes right second derivatives and includes the cotangents") {
  const Tensor a = leaf({{1, -2, 0.5}, {0.25, 3, -1}});
  const Tensor b = leaf({1.5, 2, -0.5});
  const auto f = [](const Tensor& x, const Tensor& y) { return x * x / y; };
  const GradcheckReport report = gradgradcheck(f, {a, b}, {.names = {"a"}});
  CHECK(report);
  REQUIRE(report.inputs.size() == 3);
  CHECK(report.inputs[0].name == "a");
  CHECK(report.inputs[1].name == "input 1");
  CHECK(report.inputs[2].name == "cotangent 0");
  CHECK_THAT(report.message, ContainsSubstring("[gradgradcheck] passed"));
}

TEST_CASE("gradgradcheck finds a wrong second derivative if the first one is right") {
  // The gradient 3 x^2 is computed from a copy without history, so the second derivative is lost.
  const auto cube = [](const Tensor& x) {
    return record("CubeBackward", mul(x.detach(), x.detach() * x.detach()).array(), {x}, {x},
                  [](Derivative& d) {
                    const Tensor x_saved = d.saved(0).detach();
                    d.set(0, d.grad() * (x_saved * x_saved * 3));
                  });
  };
  const Tensor x = leaf({1, 2});
  CHECK(gradcheck(cube, {x}));
  const GradcheckReport report = gradgradcheck(cube, {x});
  CHECK_FALSE(report);
  CHECK(report.inputs[report.worst].name == "input 0");
  CHECK(report.inputs[0].analytic == 0);
  CHECK(report.inputs[1].passed);  // the derivative by the cotangent is right
}

TEST_CASE("GradientNoise breaks the nodes with one name and counts them") {
  const Tensor x = leaf({1, 2});
  const auto f = [](const Tensor& t) { return (t * t).sum(); };
  {
    const GradientNoise noise("SumBackward0");
    CHECK_FALSE(gradcheck(f, {x}));
    CHECK(noise.count() > 0);
  }
  {
    const GradientNoise noise("NoSuchBackward");
    CHECK(gradcheck(f, {x}));
    CHECK(noise.count() == 0);
  }
  CHECK(gradcheck(f, {x}));
}

TEST_CASE("Node hooks see each node once, the latest hook first") {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * 3).sum();
  std::vector<std::string> seen;
  const autograd::NodeHook outer(
      [&](const Node& node, std::span<Tensor>) { seen.emplace_back(node.grad_fn()); });
  {
    const autograd::NodeHook inner([&](const Node& node, std::span<Tensor> gradients) {
      seen.push_back(as_text("inner ", node.grad_fn(), ' ', gradients.size()));
    });
    y.backward({}, true);
  }
  CHECK(seen == std::vector<std::string>{"inner SumBackward0 1", "SumBackward0",
                                         "inner MulBackward0 2", "MulBackward0"});
  seen.clear();
  y.backward();
  CHECK(seen == std::vector<std::string>{"SumBackward0", "MulBackward0"});
}

TEST_CASE("a gradient check that would compare nothing is refused") {
  const auto f = [](const std::vector<Tensor>& in) { return in[0] * 2; };
  const Tensor x = ones({2}, float64).requires_grad_();
  CHECK_THROWS_WITH(gradcheck(f, {x}, {.full_jacobian = 0, .projections = 0}),
                    "[gradcheck] projections must be at least 1, got 0");
  CHECK_THROWS_WITH(gradgradcheck(f, {x}, {.eps = 0}), ContainsSubstring("eps must be positive"));
  CHECK_THROWS_AS(gradcheck(f, {x}, {.eps = -1e-6}), Error);
  CHECK_THROWS_AS(gradcheck(f, {x}, {.eps = test::kInf}), Error);
}

TEST_CASE("a derivative that is not finite always fails") {
  const auto root = [](const Tensor& t) { return sqrt(t); };  // its slope at 0 is infinite
  const GradcheckReport report = gradcheck(root, {leaf({0.0})}, {.atol = 1e9});
  CHECK_FALSE(report.passed);
  CHECK(report.inputs[0].abs_error == test::kInf);
}

TEST_CASE("tolerances that are NaN, infinite or negative are refused") {
  const Tensor x = leaf({1.0, 2.0});
  const auto square = [](const Tensor& t) { return t * t; };
  for (const GradcheckOptions& options :
       {GradcheckOptions{.atol = test::kNaN}, GradcheckOptions{.rtol = test::kNaN},
        GradcheckOptions{.atol = test::kInf}, GradcheckOptions{.rtol = test::kInf},
        GradcheckOptions{.atol = -1e-5, .rtol = 0}, GradcheckOptions{.nondet_tol = -1}}) {
    CHECK_THROWS_WITH(gradcheck(square, {x}, options), ContainsSubstring("tolerances must be"));
  }
}

TEST_CASE("gradcheck accepts a function that computes gradients") {
  const auto slope = [](const Tensor& t) {
    return autograd::grad(t.pow(3).sum(), t, {.create_graph = true});
  };
  CHECK(gradcheck(slope, {leaf({1.0, 2.0})}).passed);
}

TEST_CASE("a backward that is not linear in the incoming gradient is refused") {
  struct Wrong : autograd::Function<Wrong> {
    explicit Wrong(std::function<Tensor(const Tensor&)> f) : change(std::move(f)) {}
    static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * 2; }
    Tensor backward(const autograd::FunctionContext&, const Tensor& grad) const {
      return change(grad) * 2;
    }
    std::function<Tensor(const Tensor&)> change;
  };
  const auto check = [](const std::function<Tensor(const Tensor&)>& change) {
    const auto wrong = [&](const Tensor& t) { return Wrong(change).apply(t); };
    return gradcheck(wrong, {leaf({1.0, 2.0})}).passed;
  };
  const auto relu_of_last = [](const Tensor& g) {
    return cat({g.narrow(0, 0, 1), relu(g.narrow(0, 1, 1))}, 0);
  };
  CHECK(check([](const Tensor& g) { return g; }));
  CHECK_THROWS_WITH(check([](const Tensor& g) { return relu(g); }),
                    ContainsSubstring("the derivative is not linear: element 0"));
  CHECK_THROWS_WITH(check(relu_of_last),
                    ContainsSubstring("the derivative is not linear: element 1 of the gradient of "
                                      "input 0 must be -3000, but is 0, for -1500 times the sum of "
                                      "the tested gradients of the output"));
  // Unit vectors would not reveal this: their elements are 0 and 1, so they equal their powers.
  CHECK_THROWS_WITH(check([](const Tensor& g) { return g * g * g; }),
                    ContainsSubstring("is not linear"));
  CHECK_THROWS_WITH(check([](const Tensor& g) { return clamp(g, -2, 2); }),
                    ContainsSubstring("is not linear"));
}

TEST_CASE("gradients that cancel in a sum pass the check of linearity") {
  const auto scaled = [](const Tensor& t) { return softmax(t, 0) * 1e13; };
  const auto centred = [](const Tensor& t) { return t - t.mean(); };
  const Tensor x = linspace(-1, 1, 20, float64).requires_grad_();
  CHECK(gradcheck(scaled, {x}).passed);
  CHECK(gradcheck(scaled, {x}, {.atol = 0, .rtol = 1e-3}).passed);
  CHECK(gradcheck(centred, {x}, {.atol = 0, .rtol = 1e-3}).passed);
}

TEST_CASE("gradcheck refuses a function whose results change in number or size") {
  const Tensor x = tensor({0.2, 0.5000005}, {.dtype = float64, .requires_grad = true});
  int calls = 0;
  const auto fewer = [&](const std::vector<Tensor>& in) {
    return calls++ == 0 ? std::vector{in[0] * 2, in[0] * 3} : std::vector{in[0] * 2};
  };
  CHECK_THROWS_WITH(gradcheck(fewer, {x}), ContainsSubstring("two evaluations differ"));
  // A step of 1e-6 decides whether the second element is selected.
  const auto picked = [](const Tensor& t) { return masked_select(t, t > 0.5); };
  CHECK_THROWS_WITH(gradcheck(picked, {x}), ContainsSubstring("two evaluations differ"));
  CHECK(equal(x, tensor({0.2, 0.5000005}, float64)));
}

TEST_CASE("gradcheck also works without grad mode") {
  const auto f = [](const std::vector<Tensor>& in) { return in[0] * in[0]; };
  const Tensor x = ones({2}, float64).requires_grad_();
  const NoGradGuard no_grad;
  CHECK(gradcheck(f, {x}).passed);
  CHECK(gradgradcheck(f, {x}).passed);
}
