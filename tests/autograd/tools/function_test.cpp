// Custom functions.
#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/tools/function.h>
#include <tend/autograd/tools/gradcheck.h>
#include <tend/autograd/tools/graph.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using V = std::vector<double>;
using Tensors = std::vector<Tensor>;
using Context = autograd::FunctionContext;

// Saves its input.
struct Cube : autograd::Function<Cube> {
  static Tensor forward(Context& context, const Tensor& x) {
    CHECK_FALSE(grad_enabled());
    context.save_for_backward({x});
    return x * x * x;
  }
  static Tensor backward(const Context& context, const Tensor& grad) {
    const Tensor x = context.saved(0);
    return grad * 3 * x * x;
  }
};

// Saves its output, and has a member.
struct ScaledExp : autograd::Function<ScaledExp> {
  explicit ScaledExp(double by) : factor(by) {}
  Tensor forward(Context& context, const Tensor& x) const {
    Tensor y = exp(factor * x);
    context.save_for_backward({y});
    return y;
  }
  Tensor backward(const Context& context, const Tensor& grad) const {
    return grad * factor * context.saved(0);
  }
  double factor;
};

// Has two inputs that broadcast, two differentiable outputs, and a third output without a gradient.
struct ProductAndQuotient : autograd::Function<ProductAndQuotient> {
  static Tensors forward(Context& context, const Tensor& a, const Tensor& b) {
    const Tensor product = a * b, quotient = a / b;
    context.save_for_backward({a, b, quotient});
    return {product, quotient, argmax(product)};
  }
  static Tensors backward(const Context& context, const Tensors& grads) {
    CHECK(grads.size() == 3);
    const Tensor a = context.saved(0), b = context.saved(1), quotient = context.saved(2);
    Tensors out(2);
    if (context.needs_input_grad(0)) out[0] = grads[0] * b + grads[1] / b;
    if (context.needs_input_grad(1)) out[1] = grads[0] * a - grads[1] * quotient / b;
    return out;
  }
};

struct Wrong : autograd::Function<Wrong> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1; }
  static Tensors backward(const Context&, const Tensor& grad) { return {grad, grad}; }
};

struct WrongShape : autograd::Function<WrongShape> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1; }
  static Tensor backward(const Context&, const Tensor& grad) { return grad[0]; }
};

struct Meddler : autograd::Function<Meddler> {
  static Tensor forward(Context&, const Tensor& x) { return x.mul_(2); }
  static Tensor backward(const Context&, const Tensor& grad) { return grad; }
};

struct Identity : autograd::Function<Identity> {
  static Tensor forward(Context&, const Tensor& x) { return x; }
  static Tensor backward(const Context&, const Tensor& grad) { return grad * 7; }
};

// Returns its input and saves it.
struct SavedIdentity : autograd::Function<SavedIdentity> {
  static Tensor forward(Context& context, const Tensor& x) {
    context.save_for_backward({x});
    return x;
  }
  static Tensor backward(const Context& context, const Tensor& grad) {
    return grad * 3 * context.saved(0);
  }
};

// Returns the same output twice, and a constant that is its member.
struct Twice : autograd::Function<Twice> {
  Tensors forward(Context&, const Tensor& x) const {
    const Tensor y = x * 2;
    return {y, y, constant};
  }
  Tensor backward(const Context&, const Tensors& grads) const { return 2 * (grads[0] + grads[1]); }
  Tensor constant = ones({2}, float64);
};

}  // namespace

TEST_CASE("A custom function has its own value, name and derivatives") {
  const Tensor x = leaf({{1, -2}, {3, 0.5}});
  const Tensor y = Cube().apply(x);
  CHECK(values(y) == V{1, -8, 27, 0.125});
  CHECK(std::string(y.grad_fn()) == "CubeBackward");
  y.backward(ones_like(y));
  CHECK(values(x.grad()) == V{3, 12, 27, 0.75});
  const auto cube = [](const Tensor& t) { return Cube().apply(t); };
  CHECK(gradcheck(cube, {x}));
  CHECK(gradgradcheck(cube, {x}));
}

TEST_CASE("A custom function may save its output and have members") {
  const Tensor x = leaf({0.1, -0.7, 0.4});
  const auto f = [](const Tensor& t) { return ScaledExp(1.5).apply(t); };
  CHECK(values(f(x)) == values(exp(1.5 * x)));
  CHECK(gradcheck(f, {x}));
  CHECK(gradgradcheck(f, {x}));
}

TEST_CASE("A custom function with several outputs has the derivatives of each") {
  const Tensor a = leaf({{1, 2, -3}, {0.5, 4, 1}}), b = leaf({2, -1, 4});
  const auto f = [](const Tensor& x, const Tensor& y) { return ProductAndQuotient().apply(x, y); };
  const Tensors out = f(a, b);
  CHECK(values(out[0]) == values(a * b));
  CHECK(values(out[1]) == values(a / b));
  CHECK_FALSE(out[2].requires_grad());
  CHECK(gradcheck(f, {a, b}));
  CHECK(gradgradcheck(f, {a, b}));
  // Only the second output gets a gradient.
  const Tensors alone = autograd::grad({out[1].sum()}, {a, b});
  const Tensors expected = autograd::grad({(a / b).sum()}, {a, b});
  CHECK(values(alone[0]) == values(expected[0]));
  CHECK(same(alone[1], values(expected[1])));
}

TEST_CASE("A tensor that a custom function saved must not change") {
  const Tensor x = leaf({1, 2}) * 1;
  const Tensor y = Cube().apply(x);
  x.add_(1);
  CHECK_THROWS_MATCHES(
      y.sum().backward(), AutogradError,
      says("[CubeBackward] a tensor of shape (2,) that was saved for backward was changed later by "
           "[add_]: its version was 0 and is now 1"));
}

TEST_CASE("A custom function that breaks its contract is refused") {
  const Tensor x = leaf({1, 2});
  CHECK_THROWS_MATCHES(Wrong().apply(x).sum().backward(), AutogradError,
                       says("[WrongBackward] backward must return a gradient for each of the 1 "
                            "inputs, but returned 2"));
  CHECK_THROWS_MATCHES(
      WrongShape().apply(leaf({{1, 2}, {3, 4}})).sum().backward(), ShapeError,
      says("[WrongShapeBackward] the gradient of input 0 has shape (2,), which cannot be summed to "
           "the input's shape (2, 2)"));
  CHECK_THROWS_MATCHES(Meddler().apply(tensor({1.0})), AutogradError,
                       says("[MeddlerBackward] forward changed its input 0 in place"));
  CHECK_THROWS_MATCHES(Context().saved(0), IndexError,
                       says("[saved] there is no saved tensor 0: forward saved 0"));
  struct Nothing : autograd::Function<Nothing> {
    explicit Nothing(bool gives_one) : has_output(gives_one) {}
    Tensors forward(Context&, const Tensor&) const { return has_output ? Tensors(1) : Tensors(); }
    static Tensor backward(const Context&, const Tensors&) { return {}; }
    bool has_output;
  };
  CHECK_THROWS_WITH(Nothing(false).apply(x), ContainsSubstring("forward gave no output"));
  CHECK_THROWS_WITH(Nothing(true).apply(x), ContainsSubstring("forward gave an undefined output"));
}

TEST_CASE("The output of an identity function is a new tensor") {
  const Tensor x = leaf({1, 2}) * 1;
  const Tensor y = Identity().apply(x);
  y.add_(1);
  CHECK(values(x) == V{1, 2});
  CHECK(values(autograd::grad({y.sum()}, {x})[0]) == V{7, 7});
}

TEST_CASE("Graphs of custom functions are freed with their last tensor") {
  const std::int64_t before = live_memory();
  {
    const Tensor a = ones({1000}, float64).requires_grad_();
    const Tensors out = ProductAndQuotient().apply(a, a);
    const Tensor y = ScaledExp(0.1).apply(out[1]);
    autograd::grad({y.sum()}, {a}, {}, {.create_graph = true});
  }
  CHECK(live_memory() == before);
}

TEST_CASE("Outputs of a custom function share no elements with each other or with its members") {
  const Twice twice;
  const Tensor x = leaf({1, 2});
  const Tensors out = twice.apply(x);
  out[0].mul_(5);
  out[2].mul_(7);
  CHECK(values(out[1]) == V{2, 4});
  CHECK(values(twice.constant) == V{1, 1});
  CHECK(values(autograd::grad({(out[0] + out[1]).sum()}, {x})[0]) == V{12, 12});
}

namespace {

// The identity, with an undefined gradient.
struct Blocked : autograd::Function<Blocked> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1; }
  static Tensor backward(const Context&, const Tensor&) { return {}; }
};

}  // namespace

TEST_CASE("an undefined gradient of a custom function stays undefined") {
  const Tensor x = leaf({1, 2}), other = leaf({3, 4});
  Blocked().apply(x).sum().backward();
  CHECK_FALSE(x.grad().defined());
  const Tensor y = (Blocked().apply(x) * other).sum();
  const Tensors found =
      autograd::grad({y}, {x, other}, {}, {.retain_graph = true, .allow_unused = true});
  CHECK_FALSE(found[0].defined());
  CHECK(values(found[1]) == V{1, 2});
  CHECK_THROWS_MATCHES(autograd::grad({y}, {x}), AutogradError,
                       says("[grad] input 0 of shape (2,) got an undefined gradient from a "
                            "function; allow_unused gives it "
                            "an undefined gradient"));
  // A gradient that reaches the leaf another way is used.
  CHECK(values(autograd::grad({(Blocked().apply(x) + x * 5).sum()}, {x})[0]) == V{5, 5});
}

TEST_CASE("an output that is marked as non-differentiable has no gradient") {
  struct Parts : autograd::Function<Parts> {
    static Tensors forward(Context& context, const Tensor& x) {
      const Tensor twice = x * 2, thrice = x * 3;
      context.mark_non_differentiable({thrice});
      return {twice, thrice};
    }
    static Tensor backward(const Context&, const Tensors& grads) {
      CHECK(values(grads[1]) == V{0, 0});
      CHECK(grads[1].dtype() == float64);
      return grads[0] * 2 + grads[1];
    }
  };
  const Tensor x = leaf({1, 2});
  const Tensors out = Parts().apply(x);
  CHECK(out[0].requires_grad());
  CHECK_FALSE(out[1].requires_grad());
  CHECK(values(out[1]) == V{3, 6});
  out[0].sum().backward();
  CHECK(values(x.grad()) == V{2, 2});

  struct Noisy : autograd::Function<Noisy> {
    static Tensors forward(Context& context, const Tensor& t) {
      const Tensor twice = t * 2, noise = full_like(t, kNaN);
      context.mark_non_differentiable({noise});
      return {twice, noise};
    }
    static Tensor backward(const Context&, const Tensors& grads) { return grads[0] * 2; }
  };
  {
    const autograd::DetectAnomaly anomaly;  // checks only outputs that have a gradient
    Noisy().apply(x)[0].sum().backward();
    CHECK(values(x.grad()) == V{4, 4});
  }

  struct Constant : autograd::Function<Constant> {
    explicit Constant(bool changes) : in_place(changes) {}
    Tensor forward(Context& context, const Tensor& t) const {
      if (in_place) context.mark_dirty({t});
      context.mark_non_differentiable({t});
      return in_place ? t.mul_(2) : t;
    }
    static Tensor backward(const Context&, const Tensor& grad) { return grad; }
    bool in_place;
  };
  // As in PyTorch, the result is another tensor, and the input keeps its history.
  const Tensor y = x * 1;
  for (const bool in_place : {false, true}) {
    const Tensor z = Constant(in_place).apply(y);
    CHECK_FALSE(z.requires_grad());
    CHECK(z.impl() != y.impl());
    CHECK(y.requires_grad());
    CHECK(values(y) == (in_place ? V{2, 4} : V{1, 2}));
  }
}
