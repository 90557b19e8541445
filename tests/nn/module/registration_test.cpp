// Members that are registered at run time, and look-ups by path.
#include "tests/nn/fixtures.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;

namespace {

// A stack of `count` layers.
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

TEST_CASE("members that are registered at run time are saved, trained and printed") {
  Stack stack(2);
  CHECK(keys_of(stack.state_dict()) == std::vector<std::string>{"scale", "steps", "layer0.weight",
                                                                "layer0.bias", "layer1.weight",
                                                                "layer1.bias"});
  CHECK(stack.parameters().size() == 5);
  CHECK(stack.buffers().size() == 2);
  CHECK_NOTHROW(stack(ones({2})));
  CHECK_THAT(stack.repr(), ContainsSubstring("(layer1): Linear(in_features=2"));
  CHECK_FALSE(stack.get_parameter("layer1.bias").requires_grad());
  stack.to(float64);
  CHECK(stack.scale.dtype() == float64);
  stack.eval();
  CHECK_FALSE(stack.get_submodule("layer0").is_training());
}

TEST_CASE("copies and clones have the members that were registered at run time") {
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

TEST_CASE("registration refuses a name that is empty, has a dot or is taken") {
  Stack stack(1);
  const std::size_t before = stack.named_modules().size();
  CHECK_THROWS_WITH(stack.register_module("", nn::ReLU()),
                    "[register_module] \"\" is not a valid name: it is empty or has a dot");
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

TEST_CASE("a registered parameter that is undefined counts as absent") {
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
  CHECK_THROWS_WITH(stack.load_state_dict(state),
                    ContainsSubstring("key cache must have shape (3,), but has (4,)"));
}
