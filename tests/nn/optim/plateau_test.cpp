// ReduceLROnPlateau gives the rates of torch.optim.lr_scheduler.ReduceLROnPlateau.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/nn/optim/torch_schedules.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using namespace tend::optim;
using tend::test::check_rates;
using tend::test::torch_schedules;
using tend::test::two_rates;

TEST_CASE("rates are reduced when a metric has stopped getting better") {
  const std::vector<std::pair<std::string, PlateauOptions>> runs = {
      {"plateau", {.factor = 0.5, .patience = 2}},
      {"plateau_abs",
       {.factor = 0.2,
        .patience = 1,
        .threshold = 0.05,
        .threshold_mode = ThresholdMode::abs,
        .cooldown = 3,
        .min_lr = 0.001}},
      {"plateau_rates", {.factor = 0.2, .patience = 1, .min_lr = {0.001, 0.01}}},
      {"plateau_max", {.mode = PlateauMode::max, .factor = 0.5, .patience = 3, .eps = 0.004}},
      {"plateau_max_abs",
       {.mode = PlateauMode::max,
        .factor = 0.5,
        .patience = 0,
        .threshold = 0.01,
        .threshold_mode = ThresholdMode::abs}}};
  const auto metrics = torch_schedules()["metrics"].get<std::vector<double>>();
  for (const auto& [name, options] : runs) {
    CAPTURE(name);
    const auto& expected = torch_schedules()["runs"].at(name)["rates"];
    SGD optimizer = two_rates();
    ReduceLROnPlateau schedule(optimizer, options);
    for (std::size_t epoch = 0; epoch < metrics.size(); ++epoch) {
      CAPTURE(epoch);
      schedule.step(metrics[epoch]);
      check_rates(optimizer, expected[epoch]);
      // Another one goes on from its state.
      const nn::StateDict state = schedule.state_dict();
      schedule = ReduceLROnPlateau(optimizer, options);
      schedule.load_state_dict(state);
    }
    CHECK(schedule.get_last_lr() == std::vector{optimizer.lr(0), optimizer.lr(1)});
  }
  SGD optimizer = two_rates();
  ReduceLROnPlateau schedule(optimizer, {.patience = 1});
  for (int i = 0; i < 3; ++i) schedule.step(std::nan(""));
  CHECK(optimizer.lr(0) < 0.1);
  nn::StateDict state = schedule.state_dict();
  state.erase("best");
  CHECK_THROWS_WITH(schedule.load_state_dict(state), ContainsSubstring("best is missing"));
  state["best"] = tensor(1.0, float64);
  state["num_bad_epochs"] = tensor(std::int64_t{-1});
  CHECK_THROWS_WITH(schedule.load_state_dict(state), ContainsSubstring("not a number of epochs"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.factor = 1}), ContainsSubstring("(0, 1)"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.patience = -1}), ContainsSubstring("patience"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.factor = 0}), ContainsSubstring("(0, 1)"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.cooldown = -1}), ContainsSubstring("cooldown"));
}

TEST_CASE(
    "a plateau's state is refused for an entry that is undefined, of another kind or unknown") {
  SGD optimizer = two_rates();
  ReduceLROnPlateau schedule(optimizer, {.patience = 1});
  schedule.step(3);
  const nn::StateDict sound = schedule.state_dict();
  const auto refuses = [&](const char* name, const Tensor& value, const char* reason) {
    nn::StateDict state = sound;
    state["best"] = tensor(7.0, float64);
    state["last_epoch"] = tensor(std::int64_t{9});
    state[name] = value;
    CHECK_THROWS_WITH(schedule.load_state_dict(state), ContainsSubstring(reason));
    CHECK(schedule.best() == 3);
    CHECK(schedule.state_dict().at("last_epoch").item<std::int64_t>() == 1);
  };
  refuses("best", Tensor(), "best is undefined");
  refuses("last_epoch", tensor(2.0), "last_epoch is () float32, not () int64");
  refuses("last_epoch", ones({1}, int64), "last_epoch is (1,) int64, not () int64");
  refuses("cooldown_counter", tensor((std::int64_t{1} << 53) + 1), "not a number of epochs");
  refuses("patience", tensor(std::int64_t{1}), "keys that are no part of it");
}

TEST_CASE("on a plateau each group may have a least rate of its own") {
  SGD optimizer = two_rates();
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.min_lr = {0.1, 0.1, 0.1}}),
                    "[ReduceLROnPlateau] 3 values of min_lr for 2 groups");
  ReduceLROnPlateau schedule(optimizer, {.patience = 0, .min_lr = {0.01, 0.01}});
  schedule.step(1);
  optimizer.add_group({zeros({1}).requires_grad_()}, {.lr = 1});
  CHECK_THROWS_WITH(schedule.step(2), "[ReduceLROnPlateau] 2 values of min_lr for 3 groups");
  CHECK(schedule.best() == 1);
  CHECK(optimizer.lr(0) == 0.1);
  // One for all goes for groups that are added, too.
  ReduceLROnPlateau one(optimizer, {.patience = 0, .min_lr = 0.5});
  one.step(1);
  one.step(2);
  CHECK(optimizer.lr(2) == 0.5);
}
