// Tests the engine: what backward and grad do, what they refuse, and what they leave unchanged.
#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/node_hook.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

// The names of the nodes that are differentiated while f runs, in order.
template <class F>
std::vector<std::string> differentiated(F f) {
  std::vector<std::string> names;
  const autograd::NodeHook hook(
      [&](const Node& node, std::span<Tensor>) { names.emplace_back(node.grad_fn()); });
  f();
  return names;
}

}  // namespace

TEST_CASE("backward accumulates into grad, in place") {
  const Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  const Tensor grad = x.grad();
  CHECK(values(grad) == V{2, 4});
  (x * 3).sum().backward();
  CHECK(values(grad) == V{5, 7});
  CHECK(x.grad().impl() == grad.impl());
}

TEST_CASE("backward accepts several tensors with their cotangents") {
  const Tensor x = leaf({1, 2});
  backward({x * 2, x * x, x.sum()}, {tensor({1, 10}, float64), tensor({100, 1000}), Tensor()});
  CHECK(values(x.grad()) == V{2 + 200 + 1, 20 + 4000 + 1});
}

TEST_CASE("backward with inputs adds only to the gradients of these inputs") {
  const Tensor a = leaf({2}), b = leaf({3}), unused = leaf({5});
  int calls = 0;
  a.register_hook([](const Tensor& g) { return g * 10; });
  b.register_hook([&](const Tensor&) { ++calls; });
  Tensor h = a * b;
  h.retain_grad();
  const Tensor k = h * h;
  const Tensor y = k * b;
  const auto names = differentiated([&] { y.backward({}, true, false, {a, unused}); });
  // PyTorch gives the same results, except that it also sets h.grad.
  CHECK(values(a.grad()) == V{1080});
  CHECK_FALSE(unused.grad().defined());
  CHECK_FALSE(b.grad().defined());
  CHECK_FALSE(h.grad().defined());
  CHECK(calls == 0);
  CHECK(names.size() == 3);
  backward({y}, {tensor({2}, float64)}, true, false, {k, a, a});
  CHECK(values(a.grad()) == V{1080 + 2160});
  CHECK(values(k.grad()) == V{6});
  CHECK(k.retains_grad());
  // If only the gradient of k is wanted, the engine stops at k.
  CHECK(differentiated([&] { y.backward({}, true, false, {k}); }).size() == 1);
  CHECK(values(k.grad()) == V{9});
  y.backward({}, true, false, {y});
  CHECK(values(y.grad()) == V{1});
}

TEST_CASE("backward with inputs and create_graph gives gradients with a graph") {
  const Tensor x = leaf({2}), w = leaf({5});
  (x * x * w).backward({}, true, true, {x});
  x.grad().backward({}, false, false, {w});
  CHECK(values(w.grad()) == V{4});
}

TEST_CASE("grad shares no elements with a cotangent or another gradient") {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({1, 2});
  const Tensor g = tensor({3, 4}, float64);
  const bool create_graph = GENERATE(false, true);
  (x.view({2}) + y).backward(g, false, create_graph);
  (x * 2 + y * 3).sum().backward();
  CHECK(values(g) == V{3, 4});
  CHECK(values(x.grad()) == V{5, 6});
  CHECK(values(y.grad()) == V{6, 7});
}

TEST_CASE("backward adds to a gradient that the user set even if the gradient shares elements") {
  Tensor x = leaf({{1, 2}, {3, 4}});
  const Tensor g = tensor({{1, 2}, {3, 4}}, float64);
  x.set_grad(g);
  x.t().backward(g);
  CHECK(values(x.grad()) == V{2, 5, 5, 8});
  x.set_grad(zeros({1}, float64).expand({2, 2}));
  x.t().backward(g);
  CHECK(values(x.grad()) == V{1, 3, 2, 4});
  CHECK_THROWS_AS(x.set_grad(zeros({2}, float64)), ShapeError);
  CHECK_THROWS_AS(x.set_grad(zeros({2, 2})), DTypeError);
}

TEST_CASE("Gradients are summed over broadcast dimensions and converted to the input's dtype") {
  const Tensor a = tensor({{1.0}, {2.0}}).requires_grad_();
  const Tensor b = leaf({1, 2, 3});
  (a * b).backward(tensor({{1, 1, 1}, {10, 10, 10}}, float64));
  CHECK(a.grad().dtype() == float32);
  CHECK(a.grad().shape() == Shape{2, 1});
  CHECK(values(a.grad()) == V{6, 60});
  CHECK(values(b.grad()) == V{21, 21, 21});
}

TEST_CASE("the retained gradient of a non-leaf is never written in place") {
  Tensor y = leaf({2}) * 3;
  y.requires_grad_();  // changes nothing
  y.retain_grad();
  const Tensor z = y.sum();
  z.backward({}, true);
  const Tensor kept = y.grad();
  z.backward();
  CHECK(values(kept) == V{1});
  CHECK(values(y.grad()) == V{2});
}

TEST_CASE("A graph with saved tensors allows one backward or several if it is retained") {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * x).sum();
  y.backward({}, true);
  y.backward();
  CHECK(values(x.grad()) == V{4, 8});
  CHECK_THROWS_WITH(y.backward(),
                    "[mul] the graph was freed by an earlier backward; call the earlier one "
                    "with retain_graph = true");
  CHECK(values(x.grad()) == V{4, 8});
  // Sums and additions save nothing.
  const Tensor z = (x + 1).sum();
  z.backward();
  CHECK_NOTHROW(z.backward());
  // These operations need saved tensors only for the gradients of constants, so they save nothing.
  const Tensor rest = remainder(x, 2).sum(), product = addcmul(x, ones({2}), ones({2})).sum();
  for (const Tensor& each : {rest, product}) {
    each.backward();
    CHECK_NOTHROW(each.backward());
  }
}

TEST_CASE("create_graph gives gradients that can be differentiated") {
  const Tensor x = leaf({2, 3});
  const Tensor first = autograd::grad({(x * x * x).sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(first.requires_grad());
  const Tensor second = autograd::grad({first.sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(second) == V{12, 18});
  CHECK(values(autograd::grad({second.sum()}, {x})[0]) == V{6, 6});
  CHECK_FALSE(autograd::grad({(x * x).sum()}, {x})[0].requires_grad());
  (x * x).sum().backward({}, false, true);
  CHECK(x.grad().grad_fn() != nullptr);
}

TEST_CASE("create_graph works inside NoGradGuard and does not change the mode") {
  const Tensor x = leaf({2, 3});
  const Tensor y = (x * x).sum();
  const NoGradGuard no_grad;
  CHECK(autograd::grad({y}, {x}, {}, {.create_graph = true})[0].requires_grad());
  CHECK_FALSE(grad_enabled());
}

TEST_CASE("grad refuses inputs that were not used, before anything is freed") {
  const Tensor x = leaf({1, 2});
  const Tensor other = leaf({1, 2, 3});
  const Tensor y = (x * x).sum();
  CHECK_THROWS_WITH(autograd::grad({y}, {x, other}),
                    "[grad] input 1 of shape (3,) was not used to make the outputs; allow_unused "
                    "gives it an undefined gradient");
  const std::vector<Tensor> gradients = autograd::grad({y}, {x, other}, {}, {.allow_unused = true});
  CHECK(values(gradients[0]) == V{2, 4});
  CHECK_FALSE(gradients[1].defined());
  CHECK_FALSE(x.grad().defined());
  CHECK_THROWS_WITH(autograd::grad({y}, {tensor({1.0})}), "[grad] input 0 does not require grad");
  CHECK_THROWS_AS(autograd::grad({y}, {}), AutogradError);
}

TEST_CASE("An input that was used but does not affect the output has gradient zero") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.fill_(7);
  CHECK(values(autograd::grad({y.sum()}, {x})[0]) == V{0, 0});
}

TEST_CASE("grad with respect to an inner tensor stops there") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  const Tensor z = (y * y).sum();
  V gradient;
  const auto names = differentiated([&] { gradient = values(autograd::grad({z}, {y})[0]); });
  CHECK(gradient == V{2, 8});
  CHECK(names == std::vector<std::string>{"SumBackward0", "MulBackward0"});
  // The engine did not run this node, so it did not free it.
  CHECK_NOTHROW(y.sum().backward());
}

TEST_CASE("Gradients that nobody needs are not computed") {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor constant = tensor({5, 6}, float64);
  const Tensor y = (x.exp() + w.sin()).sum();
  const auto names = differentiated([&] { autograd::grad({y}, {x}); });
  CHECK(names == std::vector<std::string>{"SumBackward0", "AddBackward0", "ExpBackward0"});

  std::size_t computed = 0;
  const autograd::NodeHook hook([&](const Node& node, std::span<Tensor> gradients) {
    if (std::string(node.grad_fn()) != "MulBackward0") return;
    for (const Tensor& gradient : gradients) computed += gradient.defined();
  });
  (x * constant).sum().backward();
  CHECK(computed == 1);
}

TEST_CASE("backward checks its arguments before anything has changed") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  CHECK_THROWS_WITH(y.backward(),
                    "[backward] the gradient of a tensor of shape (2,) must be given: only "
                    "one-element tensors have the default gradient 1");
  CHECK_THROWS_WITH(y.backward(ones({3})),
                    "[backward] the gradient of a tensor must have its shape (2,), but has shape "
                    "(3,)");
  CHECK_THROWS_WITH(tensor({1.0}).backward(),
                    "[backward] tensor 0 of shape (1,) does not require grad: it was computed "
                    "from no tensor that requires grad, or grad mode was off");
  CHECK_THROWS_AS(backward({Tensor()}), AutogradError);
  CHECK_THROWS_AS(Tensor().backward(), AutogradError);
  CHECK_THROWS_WITH(backward({y, y}, {ones({2})}),
                    "[backward] needs a gradient for each of the 2 tensors, got 1");

  const Tensor stale = x * 3;
  const Tensor z = stale * stale;
  stale.add_(1);
  CHECK_THROWS_AS(backward({x * 5, z}, {ones({2}), ones({2})}), AutogradError);
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("retain_grad accumulates gradients and follows in-place writes") {
  const Tensor x = leaf({1, 2});
  Tensor y = x * 2;
  CHECK_FALSE(y.is_leaf());
  y.retain_grad();
  CHECK(y.retains_grad());
  const Tensor z = (y * y).sum();
  z.backward({}, true);
  CHECK(values(y.grad()) == V{4, 8});
  z.backward();
  CHECK(values(y.grad()) == V{8, 16});  // as in PyTorch

  Tensor written = x * 2;
  written.retain_grad();
  written.mul_(3);
  (written * tensor({1, 2}, float64)).sum().backward();
  CHECK(values(written.grad()) == V{1, 2});

  Tensor base = x * 2;
  base.retain_grad();
  base[0] = 7.0;
  (base * tensor({1, 2}, float64)).sum().backward();
  CHECK(values(base.grad()) == V{1, 2});

  Tensor whole = x * 2;
  Tensor view = whole[1];
  view.retain_grad();
  whole.mul_(3);
  (view * 5).backward();
  CHECK(view.grad().item() == 5);

  CHECK_THROWS_AS(tensor({1.0}).retain_grad(), AutogradError);
}

TEST_CASE("A tensor that retains its gradient may be destroyed before the graph") {
  const Tensor x = leaf({1, 2});
  Tensor z;
  {
    Tensor y = x * 2;
    y.retain_grad();
    y[0] = 7.0;  // the first node no longer makes y
    z = y.sum();
  }
  CHECK_NOTHROW(z.backward());
  CHECK(values(x.grad()) == V{0, 2});
}

TEST_CASE("A leaf may be destroyed before the graph") {
  Tensor y;
  {
    const Tensor x = leaf({1, 2});
    y = (x * x).sum();
  }
  const Tensor w = leaf({1});
  CHECK_NOTHROW((y * w).backward());
  CHECK(w.grad().item() == 5);
}

TEST_CASE("the results of detach and NoGradGuard are not part of the graph") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const Tensor d = y.detach();
  CHECK_FALSE(d.requires_grad());
  CHECK(d.is_leaf());
  CHECK(d.data_ptr<double>() == y.data_ptr<double>());
  {
    const NoGradGuard no_grad;
    CHECK_FALSE((x * 2).requires_grad());
    const GradModeGuard on(true);
    CHECK((x * 2).requires_grad());
  }
  CHECK(grad_enabled());
  CHECK((x * 2).requires_grad());
}

TEST_CASE("requires_grad_ refuses integers and cannot freeze a non-leaf") {
  CHECK_THROWS_AS(tensor({1, 2}).requires_grad_(), DTypeError);
  const Tensor x = leaf({1, 2});
  CHECK_THROWS_AS((x * 2).requires_grad_(false), AutogradError);
  CHECK_NOTHROW((x * 2).requires_grad_());
  Tensor y = leaf({1, 2});
  y.requires_grad_(false);
  CHECK_FALSE((y * 2).requires_grad());
}

TEST_CASE("backward may use the gradient that it adds to") {
  Tensor x = leaf({2.0});
  x.set_grad(ones({1}, float64));
  (x * 2 + x * 3).backward(x.grad());
  CHECK(values(x.grad()) == V{6});

  const Tensor y = leaf({2.0});
  (y * y * y).sum().backward();
  const Tensor slope = y.grad();  // 12
  (slope * (y * y) + slope * y).sum().backward();
  CHECK(values(y.grad()) == V{12 + 12 * 4 + 12});
}

TEST_CASE("A write to a saved tensor during backward is found when the tensor is read") {
  const Tensor h = leaf({2.0}), w = leaf({3.0});
  const Tensor y = h * w;
  y.register_hook([&](const Tensor&) {
    const NoGradGuard guard;
    w.mul_(10);
  });
  CHECK_THROWS_AS((y * 1).backward(), AutogradError);
}

TEST_CASE("A leaf that was frozen after the forward pass gets no gradient") {
  Tensor x = leaf({1, 2});
  const Tensor y = (x * x).sum();
  x.requires_grad_(false);
  y.backward();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("grad of one output by one input accepts options and a cotangent") {
  const Tensor x = leaf({2, 3});
  const Tensor slope = autograd::grad((x * x * x).sum(), x, {.create_graph = true});
  CHECK(values(slope) == V{12, 27});
  CHECK(values(autograd::grad(slope.sum(), x)) == V{12, 18});
  CHECK(values(autograd::grad(x * x, x, tensor({1.0, 10.0}))) == V{4, 60});
  const Tensor y = x * x;
  const auto twice = [&](bool retains) {
    autograd::grad(y, x, ones({2}), {.retain_graph = retains});
    return autograd::grad(y, x, ones({2}));
  };
  CHECK(values(twice(true)) == V{4, 6});
  CHECK_THROWS_AS(twice(false), AutogradError);
  CHECK_FALSE(autograd::grad(x.sum(), leaf({1}), {.allow_unused = true}).defined());
  CHECK_THROWS_AS(autograd::grad(x * x, x), AutogradError);
}

TEST_CASE("backward checks its inputs before anything has changed") {
  const Tensor x = leaf({2}), constant = tensor({1}, float64);
  const Tensor y = x * 3, z = y * y;
  CHECK_THROWS_MATCHES(z.backward({}, false, false, std::vector<Tensor>{}), AutogradError,
                       says("[backward] needs at least one input"));
  CHECK_THROWS_MATCHES(z.backward({}, false, false, {y, constant}), AutogradError,
                       says("[backward] input 1 does not require grad"));
  CHECK_THROWS_AS(z.backward({}, false, false, {y, Tensor()}), AutogradError);
  CHECK_FALSE(y.retains_grad());
  z.backward({}, false, false, {y, x});
  CHECK(values(y.grad()) == V{12});
  CHECK(values(x.grad()) == V{36});
  CHECK_THROWS_AS(z.backward({}, false, false, {x}), AutogradError);  // the graph is freed
}
