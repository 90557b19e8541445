// Modules with names that are chosen at run time.
#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

class Choice : public nn::Module<Choice> {
 public:
  Choice() {
    choices.insert("conv", nn::Linear(2, 2));
    choices.insert("pool", nn::GELU());
  }
  Tensor forward(const Tensor& x, const std::string& name) const { return choices[name](x); }

  TEND_MODULE(nn::ModuleDict<>, choices);
};

}  // namespace

TEST_CASE("modules of a dictionary are called, trained and saved under their names", "[products]") {
  const Choice net;
  CHECK(net(ones({1, 2}), "conv").shape() == Shape{1, 2});
  const nn::StateDict state = net.state_dict();
  CHECK(state.begin()->first == "choices.conv.weight");
  CHECK(net.choices.keys() == std::vector<std::string>{"conv", "pool"});
  CHECK(net.choices.contains("pool"));
  CHECK_FALSE(net.choices.contains("conv.weight"));
  CHECK_THROWS_WITH(net(ones({1, 2}), "relu"),
                    Catch::Matchers::StartsWith("[ModuleDict] no module is named relu"));
  const Choice copy = net;
  CHECK(copy.parameters()[0].impl() == net.parameters()[0].impl());
  CHECK(net.clone().parameters()[0].impl() != net.parameters()[0].impl());
  CHECK(net.choices.clone().size() == 2);
  CHECK(net.choices.repr().find("(pool): GELU(") != std::string::npos);
}

TEST_CASE("a module of a dictionary can be replaced and removed") {
  nn::ModuleDict<nn::Linear> layers;
  CHECK(layers.empty());
  nn::Linear& first = layers.insert("a", nn::Linear(2, 2));
  layers.insert("b", nn::Linear(2, 3));
  CHECK(&layers.insert("a", nn::Linear(2, 5)) == &first);
  CHECK(layers["a"].weight.size(0) == 5);
  CHECK(layers.keys() == std::vector<std::string>{"a", "b"});
  for (auto& [name, layer] : layers) layer.bias.requires_grad_(false);
  CHECK(layers.num_parameters(true) == 10 + 6);
  layers.erase("a");
  CHECK(layers.keys() == std::vector<std::string>{"b"});
  CHECK_THROWS_WITH(layers.erase("a"), "[ModuleDict] no module is named a");
  CHECK_THROWS_AS(layers.insert("a.b", nn::Linear(1, 1)), Error);
  layers.register_module("own", nn::ReLU());
  CHECK_THROWS_WITH(layers.insert("own", nn::Linear(1, 1)),
                    "[ModuleDict] ModuleDict has a member own already");
  layers.clear();
  CHECK(layers.parameters().empty());
}

TEST_CASE("a dictionary can be made in braces, and emplace adds only new names") {
  manual_seed(1);
  nn::ModuleDict<> net{{"body", nn::Linear(2, 2)}, {"open", nn::ReLU()}};
  manual_seed(1);
  CHECK(net.at("body")(ones({2})).equal(nn::Linear(2, 2)(ones({2}))));
  CHECK(net.keys() == std::vector<std::string>{"body", "open"});
  const nn::ModuleDict<> copy{net};
  CHECK(copy.keys() == net.keys());
  CHECK_THROWS_AS(copy.at("head"), IndexError);
  nn::ModuleDict<nn::Linear> layers{{"a", nn::Linear(2, 3)}};
  CHECK_FALSE(layers.emplace("a", 5, 5).second);
  const auto [at, added] = layers.emplace("b", 3, 4);
  CHECK(added);
  CHECK(at->second.weight.shape() == Shape{4, 3});
  CHECK(layers.at("a").weight.shape() == Shape{3, 2});
  CHECK(layers.keys() == std::vector<std::string>{"a", "b"});
  CHECK_THROWS_AS(layers.emplace("a.b", 1, 1), Error);
}
