// What modules get a name for at run time, and what is found by its path.
#include "tests/nn/fixtures.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;

namespace {

// A stack of as many layers as a number says.
class Stack : public nn::Module<Stack> {
 public:
  explicit Stack(int count) {
    scale = register_parameter("scale", nn::Parameter(ones({2})));
    register_buffer("steps", zeros({}, int64));
    register_buffer("cache", zeros({3}), {.persistent = false});
    for (int i = 0; i < count; ++i)
      register_module(as_text("layer", i), nn::Linear(2, 2)).bias.requires_grad_(false);
  }
  Tensor forward(const Tensor& x) const { return x * scale; }

  nn::Parameter scale;
};

}  // namespace

TEST_CASE("what is registered at run time is saved, trained and printed") {
  Stack stack(2);
  CHECK(keys_of(stack.state_dict()) == std::vector<std::string>{"scale", "steps", "layer0.weight",
                                                                "layer0.bias", "layer1.weight",
                                                                "layer1.bias"});
  CHECK(stack.parameters().size() == 5);
  CHECK(stack.buffers().size() == 2);
  CHECK_NOTHROW(stack(ones({2})));
  CHECK(stack.depth() == 2);
  CHECK_THAT(stack.repr(), ContainsSubstring("(layer1): Linear(in_features=2"));
  CHECK_FALSE(stack.get_parameter("layer1.bias").requires_grad());
  stack.to(float64);
  CHECK(stack.scale.dtype() == float64);
  stack.eval();
  CHECK_FALSE(stack.get_submodule("layer0").is_training());
}

TEST_CASE("copies and clones have what was registered at run time") {
  const Stack stack(1);
  Stack copy = stack;
  CHECK(&copy.get_submodule("layer0") != &const_cast<Stack&>(stack).get_submodule("layer0"));
  CHECK(copy.get_parameter("layer0.weight").impl() == stack.get_parameter("layer0.weight").impl());
  copy.register_module("more", nn::ReLU());
  CHECK_THROWS_AS(const_cast<Stack&>(stack).get_submodule("more"), Error);
  const Stack clone = stack.clone();
  CHECK(clone.scale.impl() != stack.scale.impl());
  CHECK(clone.scale.impl() == clone.get_parameter("scale").impl());
  CHECK(clone.get_buffer("cache").impl() != stack.get_buffer("cache").impl());
  const Stack moved = std::move(copy);
  CHECK(moved.parameters().size() == 3);
}

TEST_CASE("names that are empty, have a dot or are taken are refused, and nothing is registered") {
  Stack stack(1);
  const std::size_t before = stack.named_modules().size();
  CHECK_THROWS_WITH(stack.register_module("", nn::ReLU()),
                    "[register_module] \"\" is no name: it is empty or has a dot");
  CHECK_THROWS_AS(stack.register_buffer("a.b", ones({1})), Error);
  CHECK_THROWS_WITH(stack.register_parameter("layer0", nn::Parameter(ones({1}))),
                    "[register_parameter] Stack has a member layer0 already");
  CHECK_THROWS_AS(stack.register_module("scale", nn::ReLU()), Error);
  CHECK_THROWS_AS(nn::Linear(2, 2).register_buffer("weight", ones({1})), Error);
  CHECK(stack.named_modules().size() == before);
  CHECK(stack.parameters().size() == 3);
  CHECK_THROWS_WITH(stack.get_parameter("steps"), "[get_parameter] Stack has no parameter steps");
  CHECK_THROWS_WITH(stack.get_buffer("layer0.weight"),
                    "[get_buffer] Stack has no buffer layer0.weight");
  CHECK_THROWS_WITH(stack.get_submodule("scale"), "[get_submodule] Stack has no module scale");
}

TEST_CASE("a parameter that is registered undefined is absent") {
  nn::ReLU module;
  module.register_parameter("bias", nn::Parameter());
  CHECK(module.state_dict().empty());
  CHECK_THROWS_AS(module.register_buffer("bias", ones({1})), Error);
}

TEST_CASE("a buffer that is not persistent is saved only when asked for") {
  Stack stack(0);
  CHECK(keys_of(stack.state_dict({.all_buffers = true})) ==
        std::vector<std::string>{"scale", "steps", "cache"});
  nn::StateDict state = stack.state_dict();
  state["cache"] = tensor({1.0, 2.0, 3.0});
  stack.load_state_dict(state);
  CHECK(stack.get_buffer("cache").to_vector<float>() == std::vector<float>{1, 2, 3});
  stack.load_state_dict(Stack(0).state_dict());
  CHECK(stack.get_buffer("cache").to_vector<float>() == std::vector<float>{1, 2, 3});
  state["cache"] = ones({4});
  CHECK_THROWS_WITH(stack.load_state_dict(state), ContainsSubstring("key cache has shape (4,)"));
}

TEST_CASE("a module that stands in another cannot take its place") {
  Stack net(2);
  const Tensor before = net.scale;
  auto& child = net.register_module("child", Stack(1));
  const std::string refusal =
      "[Stack] a module that stands in it cannot take its place; move that out first";
  CHECK_THROWS_WITH(net = std::move(child), refusal);
  CHECK_THROWS_WITH(net = child, refusal);  // NOLINT(bugprone-use-after-move): it was not moved
  auto& grandchild = child.register_module("child", Stack(0));
  CHECK_THROWS_WITH(net = grandchild, refusal);
  CHECK(net.scale.impl() == before.impl());
  CHECK(net.named_children().size() == 3);
  Stack moved = std::move(child);
  net = std::move(moved);
  CHECK(net.named_children().size() == 2);
  CHECK(net(ones({2})).equal(ones({2})));
  Stack& self = net;
  net = self;
  CHECK(net.named_children().size() == 2);
}

TEST_CASE("lists and a Sequential can be replaced by a module that is registered in them",
          "[products]") {
  nn::Sequential layers{nn::ReLU()};
  layers = std::move(layers.register_module("inner", nn::Sequential{nn::Linear(2, 3), nn::Tanh()}));
  CHECK(layers.size() == 2);
  CHECK(layers.depth() == 2);
  CHECK(layers(ones({1, 2})).shape() == Shape{1, 3});
  nn::ModuleList<nn::Linear> inner_list(2, nn::Linear(2, 2)), list;
  list = std::move(list.register_module("inner", inner_list));
  CHECK(list.size() == 2);
  nn::ModuleList<> nested;
  nested.push_back(nn::ModuleList<>(3, nn::ReLU()));
  nested = std::move(nested[0].as<nn::ModuleList<>>());
  CHECK(nested.size() == 3);
  nn::ModuleDict<> dict, inner_dict;
  inner_dict.insert("a", nn::ReLU());
  dict.insert("inner", inner_dict);
  dict = std::move(dict["inner"].as<nn::ModuleDict<>>());
  CHECK(dict.keys() == std::vector<std::string>{"a"});
  nn::ParameterList parameters;
  parameters = std::move(parameters.register_module(
      "inner", nn::ParameterList({nn::Parameter(ones({2})), nn::Parameter(ones({3}))})));
  CHECK(parameters.size() == 2);
}

TEST_CASE("a module with a part that was moved from can be replaced") {
  Stack net(0);
  auto& list = net.register_module("list", nn::ModuleList<>(2, nn::ReLU()));
  const nn::AnyModule taken = std::move(list[0]);
  CHECK_THROWS_WITH(net.parameters(), "[AnyModule] was moved from");
  net = Stack(3);
  CHECK(net.named_children().size() == 3);
}

TEST_CASE("a module does not move into one that stands in it") {
  nn::Sequential net{nn::ReLU(), nn::Sequential(nn::Linear(1, 1))};
  CHECK_THROWS_WITH(net[1].as<nn::Sequential>() = std::move(net),
                    "[Sequential] a module cannot take the place of one that stands in it");
  CHECK(net.size() == 2);
  nn::ModuleList<> list;
  list.push_back(nn::ModuleList<>());
  CHECK_THROWS_AS(list[0].as<nn::ModuleList<>>() = std::move(list), Error);
  nn::ModuleDict<> dict;
  dict.insert("a", nn::ModuleDict<>());
  CHECK_THROWS_AS(dict["a"].as<nn::ModuleDict<>>() = std::move(dict), Error);
}

TEST_CASE("a module with parts does not move into one of them, by any way") {
  Stack net(1);
  auto& inner = net.register_module("inner", Stack(2));
  const Tensor before = inner.scale;
  CHECK_THROWS_WITH(inner = std::move(net),
                    "[Stack] a module cannot take the place of one that stands in it");
  // NOLINTBEGIN(bugprone-use-after-move): it was not moved
  CHECK(inner.scale.impl() == before.impl());
  CHECK(net.scale.defined());
  inner = net;              // a copy may
  CHECK(net.depth() == 4);  // net, inner, the copy of inner in that, and its own parts
  // NOLINTEND(bugprone-use-after-move)
  nn::AnyModule outer(nn::Sequential{nn::Linear(2, 2)});
  nn::AnyModule& held = outer.as<nn::Sequential>()[0];
  CHECK_THROWS_AS(held = std::move(outer), Error);
}
