// Lists of modules of several classes.
#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

// Its forward accepts two tensors.
class Sum : public nn::Module<Sum> {
 public:
  Tensor forward(const Tensor& a, const Tensor& b) const { return a + b; }
};

}  // namespace

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

TEST_CASE("AnyModule gives access to its module only as the module's own class") {
  nn::AnyModule any = nn::Linear(2, 3);
  CHECK(any.as<nn::Linear>().weight.shape() == Shape{3, 2});
  CHECK_THROWS_WITH(any.as<nn::ReLU>(), "[AnyModule] the module is a Linear, not a ReLU");
}

TEST_CASE("a mixed list may contain a module with other arguments but cannot call it") {
  nn::ModuleList<> list;
  list.emplace_back(Sum());
  list.emplace_back(nn::ModuleList<nn::ReLU>());
  CHECK_THROWS_WITH(
      list[0](ones({1})),
      "[AnyModule] the forward of Sum does not accept and return one tensor, so a list "
      "of mixed classes cannot call it");
  CHECK_THROWS_AS(list[1](ones({1})), Error);
  CHECK(list[0].as<Sum>()(ones({1}), ones({1})).item() == 2);
}

TEST_CASE("a module of a list can be replaced") {
  nn::Sequential model{nn::Linear(2, 2), nn::ReLU()};
  model[1] = nn::Tanh();
  CHECK(model(ones({1, 2})).equal(tanh(model[0](ones({1, 2})))));
  model[0] = nn::ReLU();
  CHECK(model.parameters().empty());
}
