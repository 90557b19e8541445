// StateDict, a list of named tensors.
#include <map>
#include <string>

#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

std::string order(const nn::StateDict& state) {
  std::string names;
  for (const auto& [name, tensor] : state) names += name + " ";
  return names;
}

}  // namespace

TEST_CASE("a state finds its tensors by name, in the order of their insertion") {
  nn::StateDict state{{"b", ones({2})}, {"a", zeros({3})}};
  CHECK(state.size() == 2);
  CHECK(state.contains("a"));
  CHECK_FALSE(state.contains("c"));
  CHECK(state.at("a").shape() == Shape{3});
  CHECK(state.find("b") == state.begin());
  CHECK(state.find("c") == state.end());
  state["c"] = ones({4});
  state["b"] = ones({5});
  CHECK(order(state) == "b a c ");
  CHECK(state["b"].shape() == Shape{5});
  const nn::StateDict& constant = state;
  CHECK(constant.at("c").shape() == Shape{4});
  CHECK(constant.find("a")->second.shape() == Shape{3});
  CHECK_THROWS_WITH(constant.at("d"), "[StateDict] none of the 3 tensors is named d");
  CHECK_THROWS_AS(state.at(""), IndexError);
}

TEST_CASE("insertion changes no existing entry and removal affects one name only") {
  nn::StateDict state;
  CHECK(state.empty());
  CHECK(state.insert({"a", ones({1})}).second);
  const auto [known, added] = state.insert({"a", ones({2})});
  CHECK_FALSE(added);
  CHECK(known->second.shape() == Shape{1});
  state.emplace_back("b", ones({2}));
  state.emplace_back("a", ones({3}));
  CHECK(order(state) == "a b a ");
  CHECK(state.at("a").shape() == Shape{1});
  CHECK(state.erase("a") == 2);
  CHECK(state.erase("a") == 0);
  CHECK(order(state) == "b ");
  state.erase(state.begin());
  CHECK(state.empty());
}

TEST_CASE("a state can be made from a map") {
  const std::map<std::string, Tensor> map{{"y", ones({2})}, {"x", ones({1})}};
  CHECK(order(nn::StateDict(map.begin(), map.end())) == "x y ");
}

TEST_CASE("states are equal if their names, their order and their tensors are equal") {
  const nn::StateDict state{{"a", ones({2})}, {"b", Tensor()}};
  CHECK(state == nn::StateDict{{"a", ones({2})}, {"b", Tensor()}});
  CHECK(state != nn::StateDict{{"a", ones({2})}});
  CHECK(state != nn::StateDict{{"b", Tensor()}, {"a", ones({2})}});
  CHECK(state != nn::StateDict{{"a", ones({2})}, {"b", ones({2})}});
  CHECK(state != nn::StateDict{{"a", zeros({2})}, {"b", Tensor()}});
  CHECK(state != nn::StateDict{{"a", ones({2}, float64)}, {"b", Tensor()}});
  CHECK(state != nn::StateDict{{"a", ones({1, 2})}, {"b", Tensor()}});
  const nn::Linear layer(2, 3);
  CHECK(layer.state_dict() == layer.clone().state_dict());
}

TEST_CASE("weights can be renamed and replaced before they are loaded") {
  const nn::Linear from(2, 3);
  nn::StateDict state = from.state_dict();
  state["kernel"] = state.at("weight");
  state.erase("weight");
  nn::Linear to(2, 3);
  CHECK_THROWS_AS(to.load_state_dict(state), Error);
  state["weight"] = state.at("kernel");
  state.erase("kernel");
  to.load_state_dict(state);
  CHECK(to.weight.equal(from.weight));
}
