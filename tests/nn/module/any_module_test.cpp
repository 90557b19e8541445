// Lists of modules of several classes.
#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

// Takes two tensors.
class Sum : public nn::Module<Sum> {
 public:
  Tensor forward(const Tensor& a, const Tensor& b) const { return a + b; }
};

}  // namespace

TEST_CASE("a module is not replaced in its place while it is called") {
  nn::Sequential model{nn::Linear(2, 2), nn::ReLU()};
  bool replaces = true;
  model[0]->register_forward_hook([&](const nn::ModuleBase&, const std::vector<Tensor>&, Tensor&) {
    if (replaces) model[0] = nn::Tanh();
  });
  CHECK_THROWS_WITH(model(ones({1, 2})),
                    Catch::Matchers::StartsWith("[AnyModule] cannot change while Linear in it is"));
  model[1] = nn::Tanh();
  replaces = false;
  CHECK(model(ones({1, 2})).equal(tanh(model[0](ones({1, 2})))));
  model[0] = nn::ReLU();
  CHECK(model.parameters().empty());
}

TEST_CASE("a list of mixed classes calls, names and copies its modules", "[products]") {
  nn::ModuleList<> list;
  list.push_back(nn::Linear(2, 3));
  list.emplace_back(nn::ReLU());
  list.emplace_back(nn::Sequential(nn::Linear(3, 1)));
  Tensor x = ones({4, 2});
  for (const nn::AnyModule& layer : list) x = layer(x);
  CHECK(x.shape() == Shape{4, 1});
  const nn::StateDict state = list.state_dict();
  CHECK(state.contains("2.0.bias"));
  CHECK(list.repr().find("(1): ReLU()") != std::string::npos);
  const nn::ModuleList<> copy = list;
  CHECK(copy.parameters()[0].impl() == list.parameters()[0].impl());
  CHECK(list.clone().parameters()[0].impl() != list.parameters()[0].impl());
  list.eval();
  CHECK_FALSE(list[1].module().is_training());
  CHECK(copy[1].module().is_training());
}

TEST_CASE("a module of any class is taken as its own class only") {
  nn::AnyModule any = nn::Linear(2, 3);
  CHECK(any.as<nn::Linear>().weight.shape() == Shape{3, 2});
  CHECK_THROWS_WITH(any.as<nn::ReLU>(), "[AnyModule] holds a Linear, no ReLU");
}

TEST_CASE("a module that takes other arguments can be in a mixed list, but is not called there") {
  nn::ModuleList<> list;
  list.emplace_back(Sum());
  list.emplace_back(nn::ModuleList<nn::ReLU>());
  CHECK_THROWS_WITH(
      list[0](ones({1})),
      "[AnyModule] forward of Sum does not take one tensor and give one, so it cannot "
      "be called in a list of mixed classes");
  CHECK_THROWS_AS(list[1](ones({1})), Error);
  CHECK(list[0].as<Sum>()(ones({1}), ones({1})).item() == 2);
}

TEST_CASE("a module that was moved from says so, and can be copied and assigned to", "[products]") {
  nn::AnyModule any = nn::Linear(2, 3);
  const nn::AnyModule other = std::move(any);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  CHECK_THROWS_WITH(any(zeros({2})), "[AnyModule] was moved from");
  CHECK_THROWS_WITH(any.module(), "[AnyModule] was moved from");
  const nn::AnyModule copy = any;
  CHECK_THROWS_WITH(copy.module(), "[AnyModule] was moved from");
  any = other;
  CHECK(any(zeros({2})).shape() == Shape{3});
  any = copy;  // which holds nothing
  CHECK_THROWS_WITH(any.module(), "[AnyModule] was moved from");
  any = copy;
  any = other;
  const nn::AnyModule& itself = any;
  any = itself;
  CHECK(any(zeros({2})).shape() == Shape{3});
}

TEST_CASE("a list with a module that was moved from says so") {
  nn::ModuleList<> list;
  list.push_back(nn::Linear(2, 2));
  const nn::AnyModule taken = std::move(list[0]);
  CHECK_THROWS_WITH(list.parameters(), "[AnyModule] was moved from");
  CHECK_THROWS_AS(list.push_back(std::move(list[0])), Error);
  CHECK(list.size() == 1);
}

TEST_CASE("an evaluation ends also where one of its modules was moved from") {
  nn::ModuleList<> list;
  list.push_back(nn::Linear(2, 2));
  {
    const nn::EvaluationMode mode(list);
    const nn::AnyModule taken = std::move(list[0]);
  }
  CHECK(grad_enabled());
  CHECK_THROWS_WITH(list.train(), "[AnyModule] was moved from");
}

TEST_CASE("an error of a module keeps its text where a module beside it was moved from") {
  nn::Sequential model{nn::Linear(4, 4), nn::ReLU()};
  model(ones({1, 4}));
  const nn::AnyModule taken = std::move(model[1]);
  CHECK_THROWS_AS(model(ones({1, 7})), ShapeError);
  CHECK_THROWS_WITH(model(ones({1, 7})), Catch::Matchers::ContainsSubstring("(1, 7)"));
}

TEST_CASE("a module and a list stay as they are when they are moved into themselves") {
  nn::Sequential net{nn::Linear(2, 2), nn::BatchNorm1d(2)};
  nn::ModuleList<nn::Linear> list;
  list.emplace_back(2, 3);
  nn::Linear linear(2, 1);
  nn::Sequential& same_net = net;
  nn::Linear &same = linear, &first = list[0];
  net = std::move(same_net);
  linear = std::move(same);
  list[0] = std::move(first);
  CHECK(net.state_dict().size() == 7);
  CHECK(linear.parameters().size() == 2);
  CHECK(list.parameters().size() == 2);
}

TEST_CASE("a module of any class may be assigned to itself, and another to it") {
  nn::AnyModule module = nn::Linear(2, 2);
  const nn::AnyModule& same = module;
  module = same;
  CHECK(module.as<nn::Linear>().weight.size(0) == 2);
  const nn::AnyModule other = nn::ReLU();
  module = other;
  CHECK(module(full({1}, -1.0)).item() == 0);

  nn::AnyModule& alias = module;
  module = std::move(alias);
  CHECK(module(full({1}, -1.0)).item() == 0);
  nn::AnyModule taken = std::move(module);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  nn::AnyModule empty = nn::ReLU();
  empty = std::move(module);
  CHECK_THROWS_WITH(empty.module(), "[AnyModule] was moved from");
  module = std::move(taken);
  CHECK(module(full({1}, -1.0)).item() == 0);
  // NOLINTEND(bugprone-use-after-move)
}
