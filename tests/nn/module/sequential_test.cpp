// Lists of modules, and modules within modules.
#include <utility>

#include "tests/nn/fixtures.h"

using namespace tend;

TEST_CASE("an index outside of a list of modules is an error") {
  nn::ModuleList<nn::Linear> list;
  CHECK_THROWS_WITH(list[0], "[ModuleList] index 0 is out of range for a list of 0");
  CHECK_THROWS_WITH(list[-1], "[ModuleList] index -1 is out of range for a list of 0");
  list.emplace_back(2, 2);
  CHECK_NOTHROW(list[0]);
  const auto& constant = list;
  CHECK_THROWS_AS(constant[1], IndexError);
  nn::Sequential model{nn::ReLU()};
  CHECK_THROWS_WITH(model[7], "[Sequential] index 7 is out of range for a list of 1");
  CHECK(&model[-1] == &model[0]);
}

TEST_CASE("a copy of a list has its own modules, which share the tensors") {
  nn::ModuleList<nn::Linear> list;
  list.emplace_back(2, 3);
  nn::ModuleList<nn::Linear> copy = list;
  CHECK(copy[0].weight.array().raw() == list[0].weight.array().raw());
  copy.emplace_back(3, 2);
  CHECK(list.size() == 1);
  list = copy;
  CHECK(list.size() == 2);
  const nn::ModuleList<nn::Linear> moved = std::move(copy);
  CHECK(moved.size() == 2);
}

TEST_CASE("module calls that are nested too deep are an error") {
  const auto nested = [](int depth) {
    nn::Sequential model{nn::ReLU()};
    for (int i = 1; i < depth; ++i) model = nn::Sequential{nn::AnyModule(std::move(model))};
    return model;
  };
  CHECK(nested(100)(ones({2})).equal(ones({2})));
  CHECK_THROWS_WITH(nested(NestedCall::kMaxDepth)(ones({2})),
                    Catch::Matchers::StartsWith("[Module] more than 250 calls are nested"));
}

TEST_CASE("apply visits the children of a module in order and then the module") {
  nn::Sequential inner{nn::ReLU(), nn::Tanh()};
  nn::Sequential model{std::move(inner), nn::GELU()};
  std::string order;
  model.apply([&](nn::ModuleBase& module) { order += module.type_name() + " "; });
  CHECK(order == "ReLU Tanh Sequential GELU Sequential ");
}

TEST_CASE("the modules of a Sequential can be called one by one") {
  nn::Sequential model{nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 1)};
  const Tensor x = ones({4, 2});
  CHECK(model[0](x).shape() == Shape{4, 3});
  CHECK(std::as_const(model)[1](x).equal(x));
  Tensor y = x;
  for (const nn::AnyModule& layer : std::as_const(model)) y = layer(y);
  CHECK(y.equal(model(x)));
  for (nn::AnyModule& layer : model) layer->requires_grad_(false);
  CHECK(model.num_parameters(true) == 0);
  CHECK(model[0].as<nn::Linear>().weight.shape() == Shape{3, 2});
  CHECK(model[2]->parameters().size() == 2);
}

TEST_CASE("braces make the modules of a ModuleList from left to right") {
  manual_seed(3);
  nn::ModuleList<> mixed{nn::Linear(2, 2), nn::ReLU(), nn::Linear(2, 2)};
  manual_seed(3);
  const nn::ModuleList<nn::Linear> layers{nn::Linear(2, 2), nn::Linear(2, 2)};
  CHECK(mixed.at(0).as<nn::Linear>().weight.equal(layers.at(0).weight));
  CHECK(mixed.at(2).as<nn::Linear>().weight.equal(layers.at(1).weight));
  const nn::ModuleList<> copy{mixed};  // a copy, not a list in a list
  CHECK(copy.size() == 3);
  CHECK_THROWS_AS(mixed.at(3), IndexError);
}

TEST_CASE("a ModuleList makes a given number of modules") {
  manual_seed(3);
  const nn::ModuleList<nn::Linear> made(3, [] { return nn::Linear(2, 2); });
  manual_seed(3);
  const nn::Linear first(2, 2), second(2, 2);
  REQUIRE(made.size() == 3);
  CHECK(made[0].weight.equal(first.weight));
  CHECK(made[1].weight.equal(second.weight));
  const nn::ModuleList<nn::Linear> clones(2, first);
  CHECK(clones[1].weight.equal(first.weight));
  CHECK(clones[0].weight.impl() != clones[1].weight.impl());
  CHECK(clones[0].weight.impl() != first.weight.impl());
  CHECK(nn::ModuleList<>(2, nn::ReLU()).size() == 2);
  CHECK(nn::ModuleList<>(1, [] { return nn::ReLU(); }).size() == 1);
  CHECK(nn::ModuleList<nn::Linear>(0, first).size() == 0);
  CHECK_THROWS_WITH(nn::ModuleList<nn::Linear>(-1, first),
                    "[ModuleList] the number of modules is -1");
}

TEST_CASE("a Sequential can be passed wherever a function of a tensor is expected", "[products]") {
  manual_seed(1);
  nn::Sequential model{nn::Linear(4, 2), nn::Tanh()};
  CHECK(model[0].as<nn::Linear>().in_features() == 4);
  CHECK(model[0].as<nn::Linear>().out_features() == 2);
  const Tensor x = randn({3, 4}, {.requires_grad = true});
  CHECK(equal(autograd::checkpoint(model, x), model(x)));
  const Tensor weight = model[0].as<nn::Linear>().weight;
  const Tensor expected = autograd::grad(model(x).sum(), weight);
  CHECK(equal(autograd::grad(autograd::checkpoint(model, x).sum(), weight), expected));
  model.to(float64);
  CHECK(gradcheck(model, {x.detach().to(float64).requires_grad_()}).passed);
}
