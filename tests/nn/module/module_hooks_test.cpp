// Hooks on modules, and module paths in anomaly mode.
#include <tend/attention/modules/transformer.h>
#include <tend/autograd/graph/engine.h>
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

// scale * a * b, with a number among the arguments.
class Product : public nn::Module<Product> {
 public:
  Tensor forward(const Tensor& a, double scale, const Tensor& b) const { return a * scale * b; }
};

class Pair : public nn::Module<Pair> {
 public:
  std::pair<Tensor, Tensor> forward(const Tensor& a) const { return {a, a}; }
};

// Takes roots of what may be negative.
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

}  // namespace

TEST_CASE("Forward hooks see and may replace the tensors that go in and come out") {
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

TEST_CASE("A backward hook sees the gradients on both sides of a module and may replace them") {
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

TEST_CASE("A backward hook waits for the gradients of all inputs") {
  Product product;
  const Tensor a = leaf({2}), b = leaf({3});
  product.register_backward_hook([&](Tensors& grad_inputs, const Tensor&) {
    CHECK(values(grad_inputs[0]) == V{30});
    CHECK(values(grad_inputs[1]) == V{20});
  });
  product(a, 10, b).sum().backward();
  CHECK(values(a.grad()) == V{30});
  CHECK(values(b.grad()) == V{20});
}

TEST_CASE("Where no input has a gradient a backward hook sees that of the result") {
  nn::Embedding embedding(4, 2);
  V seen;
  embedding.register_backward_hook([&](Tensors& grad_inputs, const Tensor& grad_output) {
    CHECK(grad_inputs.empty());
    seen = values(grad_output);
  });
  (embedding(tensor({1})) * 3).sum().backward();
  CHECK(seen == V{3, 3});
}

TEST_CASE("Hooks go with copies of a module, and inside of others") {
  nn::Sequential net(nn::Linear(2, 2), nn::Linear(2, 1));
  int calls = 0;
  net[1].register_forward_hook([&](const nn::ModuleBase&, const Tensors&, Tensor&) { ++calls; });
  const nn::Sequential copy = net;
  net(ones({3, 2}));
  copy(ones({3, 2}));
  CHECK(calls == 2);
}

TEST_CASE("A module that does not give one tensor takes no hooks") {
  Pair pair;
  pair(ones({1}));
  pair.register_forward_hook([](const nn::ModuleBase&, const Tensors&, Tensor&) {});
  CHECK_THROWS_MATCHES(
      pair(ones({1})), Error,
      says("[register_forward_hook] Pair's forward does not give a single tensor"));
}

TEST_CASE("Anomaly mode names the module in which NaN first appeared, by its path") {
  const TwoLayers net;
  const autograd::DetectAnomaly anomaly;
  // The first block gives 1 + sqrt(2.25 - 2) = 1.5; the second takes the root of -0.5.
  const Tensor x = leaf({2.25, 11.0});
  CHECK_THROWS_MATCHES(
      net(x).sum().backward(), AutogradError,
      says("[backward] the result has NaN. The first is made by sqrt, run by "
           "TwoLayers.blocks.1.root: element (0,) of its result, shape (2,), no input has one"));
  // Here the first block takes the root of 0 and its derivative is infinite, times 0.
  const Tensor zero = leaf({2.0});
  CHECK_THROWS_MATCHES((net.blocks[0](zero) * 0).sum().backward(), AutogradError,
                       says("[backward] the first NaN is made by the derivative of sqrt, "
                            "run by Block.root: element (0,) of the gradient of its input 0, shape "
                            "(1,)"));
}

TEST_CASE("A NaN weight of a transformer is found where it is used") {
  manual_seed(1);
  attention::GPT model({.vocab_size = 5, .context_length = 4, .width = 4, .num_heads = 2});
  for (auto& [name, parameter] : model.named_parameters()) {
    if (name.find("blocks.1") == std::string::npos || parameter.dim() != 2) continue;
    const NoGradGuard guard;
    parameter[0] = kNaN;
    break;
  }
  const autograd::DetectAnomaly anomaly;
  CHECK_THROWS_WITH(
      model(tensor({{1, 2, 3}})).sum().backward(),
      ContainsSubstring("run by GPT.blocks.1.") && ContainsSubstring("has one already"));
}

TEST_CASE("The result of a module with a backward hook is still a view where it was one") {
  class Weight : public nn::Module<Weight> {
   public:
    Weight() { w = nn::Parameter(ones({3})); }
    Tensor forward(const Tensor&) const { return w.view({3}); }
    TEND_PARAMETER(w);
  };
  Weight weight;
  weight.register_backward_hook([](Tensors&, const Tensor&) {});
  CHECK_THROWS_AS(weight(ones({1})).mul_(5), AutogradError);
  CHECK(values(weight.w) == V{1, 1, 1});
}

TEST_CASE("A backward hook leaves nothing behind when a graph is created") {
  nn::Linear linear(4, 4);
  linear.register_backward_hook([](Tensors&, const Tensor&) {});
  const std::int64_t before = live_memory();
  {
    const Tensor x = ones({100, 4}).requires_grad_();
    const Tensor y = linear(x);
    autograd::grad({(y * y * y).sum()}, {x}, {}, {.create_graph = true});
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
                       says("[register_forward_pre_hook] a hook of Masked left 1 inputs of 2"));
}
