// The state of an optimizer: saved, loaded and refused.
#include <cstdint>
#include <string>

#include <tend/tend.h>

#include "tests/catch.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend;

namespace {

Tensor first_weights() {
  return tensor({1.0, -2.0, 3.0, 0.5});
}

}  // namespace

TEST_CASE("optimizers continue from their state with the same bits") {
  const auto check = []<class O>(const typename O::Options& options) {
    const auto train = [](O& optimizer, const Tensor& p) {
      for (int i = 0; i < 3; ++i) {
        optimizer.zero_grad();
        (p * p).sum().backward();
        optimizer.step();
      }
    };
    const Tensor whole = first_weights().requires_grad_(), half = first_weights().requires_grad_();
    O one({whole}, options), first({half}, options), second({half}, 0.5);
    train(one, whole);
    train(one, whole);
    train(first, half);
    second.load_state_dict(first.state_dict());
    train(second, half);
    CHECK(equal(half.detach(), whole.detach()));
  };
  check.operator()<optim::SGD>({.lr = 0.1, .momentum = 0.9});
  check.operator()<optim::Adam>({.lr = 0.1, .amsgrad = true});
  check.operator()<optim::AdamW>({.lr = 0.1});
  check.operator()<optim::RMSprop>({.lr = 0.1, .momentum = 0.9, .centered = true});
  check.operator()<optim::Adagrad>({.lr = 0.1, .lr_decay = 0.1});
  check.operator()<optim::Lion>({.lr = 0.1});
}

TEST_CASE("an optimizer refuses a state that is not its own") {
  Tensor p = first_weights().requires_grad_();
  optim::AdamW optimizer({p});
  CHECK_THROWS_WITH(optimizer.load_state_dict({{"0.step", tensor(1)}, {"0.exp_avg", zeros({3})}}),
                    "[load_state_dict] 0.exp_avg is (3,) float32, not (4,) float32");
  CHECK_THROWS_WITH(optimizer.load_state_dict({{"0.step", tensor(1)}, {"0.exp_avg", zeros({4})}}),
                    "[load_state_dict] 0.exp_avg_sq is missing");
  for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 60}) {
    CHECK_THROWS_WITH(optimizer.load_state_dict({{"0.step", tensor(step)}}),
                      ContainsSubstring("not a count from 1 to 2^53"));
  }
  const nn::StateDict good{
      {"0.step", tensor(1)}, {"0.exp_avg", zeros({4})}, {"0.exp_avg_sq", zeros({4})}};
  nn::StateDict twice = good;
  twice.emplace_back("0.exp_avg", ones({4}));
  CHECK_THROWS_WITH(optimizer.load_state_dict(twice), "[load_state_dict] 0.exp_avg is there twice");
  CHECK_THROWS_WITH(optimizer.load_state_dict({{"0.step", Tensor()}}),
                    "[load_state_dict] 0.step is undefined");
  CHECK(!optimizer.state_dict().contains("0.step"));
  CHECK_NOTHROW(optimizer.load_state_dict(good));
  CHECK_THROWS_WITH(optimizer.load_state_dict({{"7.step", tensor(1)}}),
                    "[load_state_dict] 7.step belongs to no parameter");
}

TEST_CASE("an optimizer's state contains and restores the options of its groups") {
  const auto make = [](double lr) {
    optim::AdamW optimizer({ones({2}).requires_grad_()}, {.lr = lr, .betas = {0.8, 0.9}});
    optimizer.add_group({ones({3}).requires_grad_()}, {.lr = 2 * lr, .amsgrad = true});
    return optimizer;
  };
  optim::AdamW from = make(0.25);
  from.groups()[1].options.weight_decay = 0.5;
  const nn::StateDict state = from.state_dict();
  CHECK(state.at("group.0.lr").item<double>() == 0.25);
  CHECK(state.at("group.0.betas").to_vector<double>() == std::vector<double>{0.8, 0.9});
  CHECK(state.at("group.1.amsgrad").item<bool>());

  optim::AdamW to = make(1);
  to.load_state_dict(state);
  CHECK(to.lr(0) == 0.25);
  CHECK(to.lr(1) == 0.5);
  CHECK(to.groups()[1].options.weight_decay == 0.5);
  CHECK(!to.groups()[0].options.amsgrad);
  CHECK(to.groups()[1].options.amsgrad);

  const auto refuses = [&](const std::string& message, const auto& change) {
    optim::AdamW target = make(1);
    nn::StateDict wrong = state;
    change(wrong);
    CHECK_THROWS_WITH(target.load_state_dict(wrong), ContainsSubstring(message));
    CHECK(target.lr(0) == 1);
    CHECK(target.lr(1) == 2);
  };
  refuses("group.1.eps is missing", [](auto& s) { s.erase("group.1.eps"); });
  refuses("group.0.lr is (1,) float64, not () float64",
          [](auto& s) { s["group.0.lr"] = ones({1}, float64); });
  refuses("group.0.betas is () float64, not (2,) float64",
          [](auto& s) { s["group.0.betas"] = ones({}, float64); });
  refuses("group.1.amsgrad is () float64, not () bool",
          [](auto& s) { s["group.1.amsgrad"] = ones({}, float64); });
  refuses("group.2.lr belongs to no group", [](auto& s) { s["group.2.lr"] = ones({}, float64); });
  // A state without options, as version 0.1 wrote it, does not change the options.
  optim::AdamW older = make(1);
  older.load_state_dict({});
  CHECK(older.lr(1) == 2);
}

TEST_CASE("a group's list of parameters cannot change after it was added") {
  const Tensor a = ones({2}).requires_grad_(), b = ones({2}).requires_grad_();
  optim::AdamW optimizer({a}, {.lr = 0.1});
  optimizer.groups()[0].parameters.push_back(b);
  const char* const message =
      "[AdamW.step] the list of a group's parameters must not change after add_group";
  CHECK_THROWS_WITH(optimizer.state_dict(), message);
  CHECK_THROWS_WITH(optimizer.load_state_dict({}), message);
  CHECK_THROWS_WITH(optimizer.step(), message);
}
