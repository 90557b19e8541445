// Hooks on modules, and module paths in anomaly mode.
#include <utility>

#include <tend/nn/layers/activation.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/embedding.h>
#include <tend/nn/layers/linear.h>
#include <tend/nn/module/module_list.h>
#include <tend/nn/module/sequential.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using V = std::vector<double>;
using Tensors = std::vector<Tensor>;

// Computes scale * a * b. One argument is a number.
class Product : public nn::Module<Product> {
 public:
  Tensor forward(const Tensor& a, double scale, const Tensor& b) const { return a * scale * b; }
};

class Pair : public nn::Module<Pair> {
 public:
  std::pair<Tensor, Tensor> forward(const Tensor& a) const { return {a, a}; }
};

// Computes square roots. The root of a negative number is NaN.
class Root : public nn::Module<Root> {
 public:
  Tensor forward(const Tensor& x) const { return sqrt(x); }
};

class Block : public nn::Module<Block> {
 public:
  Tensor forward(const Tensor& x) const { return root(x - 2) + 1; }
  TEND_MODULE(Root, root);
};

class TwoLayers : public nn::Module<TwoLayers> {
 public:
  TwoLayers() {
    blocks.emplace_back();
    blocks.emplace_back();
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const Block& block : blocks) y = block(y);
    return y;
  }
  TEND_MODULE(nn::ModuleList<Block>, blocks);
};

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("Forward hooks see the input and output tensors and may replace them") {
  Product product;
  Tensors seen;
  HookHandle before =
      product.register_forward_pre_hook([&](const nn::ModuleBase& module, Tensors& inputs) {
        CHECK(module.type_name() == "Product");
        seen = inputs;
        inputs[1] = inputs[1] + 1;
      });
  HookHandle after = product.register_forward_hook(
      [](const nn::ModuleBase&, const Tensors& inputs, Tensor& output) {
        CHECK(values(inputs[1]) == V{4});
        output = -output;
      });
  CHECK(values(product(tensor({2}), 10, tensor({3}))) == V{-80});
  CHECK(seen.size() == 2);
  CHECK(values(seen[1]) == V{3});
  before.remove();
  after.remove();
  CHECK(values(product(tensor({2}), 10, tensor({3}))) == V{60});
}

TEST_CASE("A hook's result replaces its argument unless the result is undefined or empty") {
  Product product;
  const Tensor a = leaf({2}), b = leaf({3});
  const auto last = [&] { return values(product(a, 10, b)); };
  HookHandle before =
      product.register_forward_pre_hook([](const nn::ModuleBase&, const Tensors& inputs) {
        return Tensors{inputs[0], inputs[1] + 1};
      });
  HookHandle after = product.register_forward_hook(
      [](const nn::ModuleBase&, const Tensors&, const Tensor& output) { return -output; });
  HookHandle backward = product.register_backward_hook([](const Tensors& grads, const Tensor&) {
    return Tensors{grads[0] + 1, grads[1]};
  });
  CHECK(last() == V{-80});
  product(a, 10, b).sum().backward();
  CHECK(values(a.grad()) == V{-39});
  CHECK(values(b.grad()) == V{-20});
  before.remove();
  after.remove();
  backward.remove();

  product.register_forward_pre_hook(
      [](const nn::ModuleBase&, const Tensors&) { return Tensors(); });
  product.register_forward_hook(
      [](const nn::ModuleBase&, const Tensors&, const Tensor&) { return Tensor(); });
  product.register_backward_hook([](const Tensors&, const Tensor&) { return Tensors(); });
  CHECK(last() == V{60});
  product(a, 10, b).sum().backward();
  CHECK(values(a.grad()) == V{-9});

  nn::ReLU relu;
  HookHandle single = relu.register_forward_pre_hook(
      [](const nn::ModuleBase&, const Tensors& inputs) { return -inputs[0]; });
  CHECK(values(relu(tensor({-3.0, 4.0}))) == V{3, 0});
  single.remove();
  relu.register_backward_hook([](const Tensors& grads, const Tensor&) { return grads[0] * 5; });
  CHECK(values(autograd::grad(relu(a).sum(), a)) == V{5});
}

TEST_CASE("Gradients from a backward hook that do not fit are refused") {
  Product product;
  const Tensor a = leaf({2}), b = leaf({3});
  const auto refused_for = [&](const Tensors& left) {
    const HookHandle hook =
        product.register_backward_hook([=](const Tensors&, const Tensor&) { return left; });
    const std::string message = message_of([&] { product(a, 10, b).sum().backward(); });
    HookHandle(hook).remove();
    return message;
  };
  const std::string name = "[register_backward_hook] ";
  CHECK(refused_for({a}) ==
        name + "a hook must leave one gradient for each of the 2 arguments, but left 1");
  CHECK(refused_for({a, ones({1, 1}, float64)}) ==
        name + "the gradient of argument 1 must have shape (1,), but a hook left (1, 1)");
  CHECK(refused_for({a.to(float32), b}) ==
        name + "the gradient of argument 0 must be float64, but a hook left float32");
  CHECK_FALSE(a.grad().defined());
  CHECK(refused_for({Tensor(), b}) == "no error");

  const nn::Embedding embedding(4, 2);
  nn::Embedding hooked = embedding;
  hooked.register_backward_hook([](const Tensors&, const Tensor& grad) { return grad * 3; });
  CHECK(message_of([&] { hooked(tensor({1})).sum().backward(); }) ==
        "[register_backward_hook] a hook must not leave gradients if no argument requires grad");
}

TEST_CASE("A backward hook does not affect calls without grad mode") {
  nn::Dropout still(0.5);
  still.eval();
  still.register_backward_hook([](Tensors&, const Tensor&) {});
  const Tensor w = leaf({3, 3}), h = w * 1;
  Tensor y;
  {
    const NoGradGuard guard;
    y = still(h);
  }
  (y * w).sum().backward();
  CHECK(values(w.grad()) == V{6, 6});
}

TEST_CASE("A backward hook sees all gradients and may replace the gradients of the inputs") {
  Product product;
  const Tensor a = leaf({2}), b = tensor({3}, float64);
  int calls = 0;
  product.register_backward_hook([&](Tensors& grad_inputs, const Tensor& grad_output) {
    ++calls;
    CHECK(values(grad_output) == V{5});
    REQUIRE(grad_inputs.size() == 2);
    CHECK(values(grad_inputs[0]) == V{150});
    CHECK_FALSE(grad_inputs[1].defined());
    grad_inputs[0] = grad_inputs[0] + 1;
  });
  (product(a, 10, b) * 5).sum().backward();
  CHECK(calls == 1);
  CHECK(values(a.grad()) == V{151});
  const NoGradGuard guard;
  CHECK(values(product(a, 10, b)) == V{60});
}

TEST_CASE("A backward hook sees the gradient of the result if no input requires grad") {
  nn::Embedding embedding(4, 2);
  V seen;
  embedding.register_backward_hook([&](Tensors& grad_inputs, const Tensor& grad_output) {
    CHECK(grad_inputs.empty());
    seen = values(grad_output);
  });
  (embedding(tensor({1})) * 3).sum().backward();
  CHECK(seen == V{3, 3});
}

TEST_CASE("A module whose forward does not return one tensor cannot have hooks") {
  Pair pair;
  pair(ones({1}));
  pair.register_forward_hook([](const nn::ModuleBase&, const Tensors&, Tensor&) {});
  CHECK_THROWS_MATCHES(
      pair(ones({1})), Error,
      says("[register_forward_hook] Pair has hooks, so its forward must return a single tensor, "
           "and accept tensors as const Tensor& and other arguments as lvalues"));
}

TEST_CASE("Without hooks a forward may write to a tensor argument and accept move-only arguments") {
  struct Cell : nn::Module<Cell> {
    Tensor forward(const Tensor& x, Tensor& hidden, std::unique_ptr<int> factor) const {
      hidden = hidden + x;
      return hidden * *factor;
    }
  };
  Cell cell;
  Tensor hidden = tensor({1.0});
  CHECK(values(cell(tensor({2.0}), hidden, std::make_unique<int>(3))) == V{9});
  CHECK(values(hidden) == V{3});
  cell.register_forward_hook([](const nn::ModuleBase&, const Tensors&, Tensor&) {});
  CHECK_THROWS_AS(cell(tensor({2.0}), hidden, std::make_unique<int>(3)), Error);
}

TEST_CASE("Anomaly mode names the module in which NaN first appeared, by its path") {
  const TwoLayers net;
  const autograd::DetectAnomaly anomaly;
  // The first block computes 1 + sqrt(2.25 - 2) = 1.5. The second computes the root of -0.5.
  const Tensor x = leaf({2.25, 11.0});
  CHECK_THROWS_MATCHES(
      net(x).sum().backward(), AutogradError,
      says("[backward] the result has NaN. The first NaN is made by sqrt, run by "
           "TwoLayers.blocks.1.root: element (0,) of its result, shape (2,), no input has NaN"));
  // Here the first block computes sqrt(0). The derivative is infinite, and 0 times infinity is NaN.
  const Tensor zero = leaf({2.0});
  CHECK_THROWS_MATCHES((net.blocks[0](zero) * 0).sum().backward(), AutogradError,
                       says("[backward] the first NaN is made by the derivative of sqrt, "
                            "run by Block.root: element (0,) of the gradient of its input 0, shape "
                            "(1,)"));
}

TEST_CASE("A backward hook leaks no memory when a graph is created", "[products]") {
  nn::Linear linear(4, 4);
  linear.register_backward_hook([](Tensors&, const Tensor&) {});
  const std::int64_t before = live_memory();
  {
    const Tensor x = ones({100, 4}).requires_grad_();
    const Tensor y = linear(x);
    autograd::grad({(y * y * y).sum()}, {x}, {}, {.create_graph = true});
    // Here the module's arguments get no gradient.
    autograd::grad({(y * y * y).sum()}, {linear.weight}, {}, {.create_graph = true});
  }
  CHECK(live_memory() == before);
}

TEST_CASE("A module with hooks may be called with an undefined tensor") {
  class Masked : public nn::Module<Masked> {
   public:
    Tensor forward(const Tensor& x, const Tensor& mask) const {
      return mask.defined() ? x * mask : x * 2;
    }
  };
  Masked masked;
  int calls = 0;
  masked.register_backward_hook([&](Tensors& grad_inputs, const Tensor&) {
    ++calls;
    CHECK(grad_inputs.size() == 1);
  });
  const Tensor x = leaf({1, 2});
  masked(x, Tensor()).sum().backward();
  CHECK(calls == 1);
  CHECK(values(x.grad()) == V{2, 2});
  masked.register_forward_pre_hook(
      [](const nn::ModuleBase&, Tensors& inputs) { inputs.pop_back(); });
  CHECK_THROWS_MATCHES(masked(x, Tensor()), Error,
                       says("[register_forward_pre_hook] a hook of Masked must leave 2 inputs, but "
                            "left 1"));
}

TEST_CASE("an error of a module within others ends with the module's path") {
  class Wide : public nn::Module<Wide> {
   public:
    Wide() : down(3, 2) {}
    Tensor forward(const Tensor& x) const { return down(x); }
    TEND_MODULE(nn::Linear, down);
  };
  class Net : public nn::Module<Net> {
   public:
    Net() {
      blocks.emplace_back();
      blocks.emplace_back();
    }
    Tensor forward(const Tensor& x) const { return blocks[1](x); }
    TEND_MODULE(nn::ModuleList<Wide>, blocks);
  };
  const Tensor x = ones({4, 5});
  const std::string own = message_of([&] { nn::Linear(3, 2)(x); });
  CHECK(message_of([&] { Net()(x); }) == own + " (in Net.blocks.1.down)");
  CHECK_THROWS_AS(Net()(x), ShapeError);
  CHECK(message_of([&] {
          nn::Sequential{nn::ReLU(), Net()}(x);
        }) == own + " (in Sequential.1.blocks.1.down)");
  // The error of a hook has the path of the hook's module.
  Net hooked;
  hooked.blocks[1].register_forward_pre_hook(
      [](const nn::ModuleBase&, Tensors& inputs) { inputs.clear(); });
  CHECK(message_of([&] {
          hooked(ones({4, 3}));
        }) ==
        "[register_forward_pre_hook] a hook of Wide must leave 1 inputs, but left 0 (in "
        "Net.blocks.1)");
}

TEST_CASE("an error's path is right for a module that calls itself or that calls a local module") {
  class Again : public nn::Module<Again> {
   public:
    Again() : down(3, 2) {}
    Tensor forward(const Tensor& x) const {
      return x.dim() == 1 ? (*this)(x.view({1, -1})) : down(x);
    }
    TEND_MODULE(nn::Linear, down);
  };
  class Borrower : public nn::Module<Borrower> {
   public:
    Tensor forward(const Tensor& x) const {
      const nn::Sequential borrowed{nn::Linear(3, 2)};
      borrowed.requires_grad_(false);
      return borrowed(x);
    }
  };
  const Tensor x = ones({5});
  const std::string own = message_of([&] { nn::Linear(3, 2)(ones({1, 5})); });
  CHECK(message_of([&] { Again()(x); }) == own + " (in Again.down)");
  CHECK(message_of([&] { Borrower()(ones({1, 5})); }) == own + " (in Borrower > Sequential.0)");
}

TEST_CASE("an error keeps its class on its way through modules") {
  enum class Kind { dtype, index, autograd, io, memory, own, standard };
  class Thrower : public nn::Module<Thrower> {
   public:
    explicit Thrower(Kind which) : kind(which) {}
    Tensor forward(const Tensor& x) const {
      switch (kind) {
        case Kind::dtype: fail<DTypeError>("op", "text");
        case Kind::index: fail<IndexError>("op", "text");
        case Kind::autograd: fail<AutogradError>("op", "text");
        case Kind::io: fail<IoError>("op", "text");
        case Kind::memory: fail<OutOfMemoryError>("op", "text");
        case Kind::own: throw OwnError("[op] text");
        case Kind::standard: throw std::logic_error("[op] text");
      }
      return x;
    }
    struct OwnError : ShapeError {
      using ShapeError::ShapeError;
    };
    Kind kind;
  };
  const auto call = [](Kind kind) { nn::Sequential{Thrower(kind)}(ones({1})); };
  const std::string with_path = "[op] text (in Sequential.0)";
  CHECK_THROWS_MATCHES(call(Kind::dtype), DTypeError, says(with_path));
  CHECK_THROWS_MATCHES(call(Kind::index), IndexError, says(with_path));
  CHECK_THROWS_MATCHES(call(Kind::autograd), AutogradError, says(with_path));
  CHECK_THROWS_MATCHES(call(Kind::io), IoError, says(with_path));
  CHECK_THROWS_MATCHES(call(Kind::memory), OutOfMemoryError, says(with_path));
  CHECK_THROWS_MATCHES(call(Kind::own), Thrower::OwnError, says("[op] text"));
  CHECK_THROWS_AS(call(Kind::standard), std::logic_error);
}

namespace {

class Cube : public nn::Module<Cube> {
 public:
  Tensor forward(const Tensor& x) const { return x * x * x; }
};

// Writes into its argument.
class Rectify : public nn::Module<Rectify> {
 public:
  Tensor forward(const Tensor& x) const { return Tensor(x).relu_(); }
};

}  // namespace

TEST_CASE("a double backward through saved inputs does not run a backward hook again") {
  Cube cube;
  int calls = 0;
  cube.register_backward_hook([&](Tensors& grad_inputs, const Tensor& grad_output) {
    ++calls;
    CHECK(grad_output.defined());
    grad_inputs[0] = grad_inputs[0] * 2;
  });
  const Tensor x = tensor(3.0).requires_grad_();
  const Tensor first = autograd::grad(cube(x), x, {.create_graph = true});
  CHECK(first.item() == 54);  // twice 3 x^2
  CHECK(autograd::grad(first, x).item() == 36);
  CHECK(calls == 1);
}

TEST_CASE("a module with a backward hook may not write into its argument") {
  Rectify rectify;
  const Tensor x = tensor({-1.0, 2.0}).requires_grad_();
  const auto loss_of = [&] {
    const Tensor h = x * 3;
    rectify(h);
    return (h * h).sum();
  };
  CHECK(loss_of().item() == 36);
  HookHandle hook = rectify.register_backward_hook([](Tensors&, const Tensor&) {});
  CHECK_THROWS_WITH(loss_of(), ContainsSubstring("[register_backward_hook] Rectify has a backward "
                                                 "hook, so neither its forward nor a hook may"));
  const NoGradGuard no_grad;
  CHECK(loss_of().item() == 36);
}

TEST_CASE("a call uses the backward hooks that the module had at the time of the call") {
  nn::Linear layer(2, 2);
  int early = 0, late = 0;
  HookHandle handle = layer.register_backward_hook([&](Tensors&, const Tensor&) { ++early; });
  const Tensor y = layer(ones({1, 2}).requires_grad_());
  handle.remove();
  layer.register_backward_hook([&](Tensors&, const Tensor&) { ++late; });
  y.sum().backward();
  CHECK(early == 1);
  CHECK(late == 0);
}

TEST_CASE("a hook may call its module again, up to the limit of nested calls") {
  nn::Linear layer(2, 2);
  int left = 100;
  layer.register_forward_hook([&](const nn::ModuleBase&, const Tensors&, Tensor& out) {
    if (--left > 0) layer(out);
  });
  layer(ones({1, 2}));
  CHECK(left == 0);
  left = 1000;
  CHECK_THROWS_AS(layer(ones({1, 2})), Error);
}

TEST_CASE("a hook may remove itself") {
  nn::ReLU layer;
  int calls = 0;
  HookHandle handle;
  handle = layer.register_forward_hook([&](const nn::ModuleBase&, const Tensors&, Tensor&) {
    ++calls;
    handle.remove();
  });
  layer(ones({2}));
  layer(ones({2}));
  CHECK(calls == 1);
}
