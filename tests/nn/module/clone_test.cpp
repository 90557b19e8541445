// Deep copies of modules.
#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

class Tied : public nn::Module<Tied> {
 public:
  Tied() : up(2, 3), down(2, 3), scale(tensor({2.0})) {
    down.weight = up.weight;
    handle = up.weight;
    up.bias.requires_grad_(false);
    list.emplace_back(3, 3);
  }
  Tensor forward(const Tensor& x) const { return (list[0](up(x)) + down(x)) * scale; }

  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::Linear, down);
  TEND_BUFFER(scale);
  TEND_MODULE(nn::ModuleList<nn::Linear>, list);
  TEND_PARAMETER(absent);
  nn::Parameter handle;
};

}  // namespace

TEST_CASE("a clone has its own tensors with the same elements", "[products]") {
  const Tied net;
  const Tensor x = ones({1, 2});
  net(x).sum().backward();
  const std::vector<float> before = net(x).to_vector<float>();
  const Tied copy = net.clone();
  CHECK(copy(x).to_vector<float>() == before);
  for (const Tensor& each : copy.parameters()) {
    CHECK_FALSE(each.grad().defined());
    const NoGradGuard guard;
    each.fill_(7);
  }
  copy.scale.fill_(9);
  CHECK(net(x).to_vector<float>() == before);
  CHECK(net.up.weight.grad().defined());
}

TEST_CASE("a clone has the same requires_grad, modes and shared parameters") {
  Tied net;
  net.list.eval();
  const Tied copy = net.clone();
  CHECK(copy.parameters().size() == net.parameters().size());
  CHECK(copy.up.weight.impl() == copy.down.weight.impl());
  CHECK(copy.up.weight.impl() != net.up.weight.impl());
  CHECK(copy.handle.impl() == copy.up.weight.impl());
  CHECK_FALSE(copy.up.bias.requires_grad());
  CHECK(copy.down.bias.requires_grad());
  CHECK_FALSE(copy.scale.requires_grad());
  CHECK_FALSE(copy.absent.defined());
  CHECK(copy.is_training());
  CHECK_FALSE(copy.list.is_training());
  CHECK(to_string(copy.down.bias).find("Parameter containing") == 0);
  CHECK(net.list.clone()[0].weight.impl() != net.list[0].weight.impl());
}

TEST_CASE("a clone has the same hooks in its own lists") {
  nn::Sequential net{nn::ReLU()};
  int old_hook = 0, later = 0;
  HookHandle handle = net[0]->register_forward_hook(
      [&](const nn::ModuleBase&, const std::vector<Tensor>&, Tensor&) { ++old_hook; });
  const nn::Sequential copy = net.clone();
  net[0]->register_forward_hook(
      [&](const nn::ModuleBase&, const std::vector<Tensor>&, Tensor&) { ++later; });
  handle.remove();
  copy(ones({2}));
  CHECK(old_hook == 1);
  CHECK(later == 0);
  net(ones({2}));
  CHECK(old_hook == 1);
  CHECK(later == 1);
}

TEST_CASE("a module whose tensors have a history cannot be cloned") {
  nn::Sequential net{Tied()};
  net[0].as<Tied>().scale = ones({1}).requires_grad_() * 2;
  CHECK_THROWS_WITH(net.clone(), "[clone] 0.scale has history; detach it");
}
