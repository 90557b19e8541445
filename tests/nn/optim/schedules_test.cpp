// Schedules have the learning rates of torch.optim.lr_scheduler.
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

#include <tend/tend.h>

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using namespace tend::optim;

namespace {

// tests/data/schedules.json (make_schedules.py)
const nlohmann::json& torch_schedules() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/schedules.json"));
  return data;
}

template <class O>
O two_groups(const typename O::Options& options) {
  typename O::Options first = options, second = options;
  first.lr = torch_schedules()["rates"][0].get<double>();
  second.lr = torch_schedules()["rates"][1].get<double>();
  O optimizer({zeros({1}).requires_grad_()}, first);
  optimizer.add_group({zeros({1}).requires_grad_()}, second);
  return optimizer;
}

optim::SGD two_rates() {
  return two_groups<optim::SGD>({.momentum = 0.9});
}

// The formulas are PyTorch's, operation for operation. But cos and pow may differ by an ulp between
// two C libraries, and 45 steps increase such differences.
constexpr double kRateTolerance = 1e-13;

void check_rates(const optim::Optimizer& optimizer, const nlohmann::json& expected) {
  for (std::size_t group = 0; group < 2; ++group) {
    const auto rate = expected[group].get<double>();
    CHECK(std::abs(optimizer.lr(group) - rate) <= kRateTolerance * std::abs(rate));
  }
}

// Owns schedules, since a schedule that combines others only refers to them.
using Schedules = std::vector<std::shared_ptr<LRScheduler>>;

template <class S, class... Arguments>
Schedules just(Optimizer& optimizer, Arguments&&... arguments) {
  return {std::make_shared<S>(optimizer, std::forward<Arguments>(arguments)...)};
}

Schedules sequential(Optimizer& o) {
  Schedules all = {std::make_shared<LinearLR>(o, LinearLROptions{0.1, 1.0, 8}),
                   std::make_shared<CosineAnnealingLR>(o, 20, 0.002),
                   std::make_shared<ExponentialLR>(o, 0.9)};
  all.push_back(std::make_shared<SequentialLR>(
      o, std::vector<std::reference_wrapper<LRScheduler>>{*all[0], *all[1], *all[2]},
      std::vector<std::int64_t>{8, 28}));
  return all;
}

Schedules sequential_of_five(Optimizer& o) {
  Schedules all = {std::make_shared<ConstantLR>(o, 0.5, 3), std::make_shared<StepLR>(o, 3, 0.5),
                   std::make_shared<MultiStepLR>(o, std::vector<std::int64_t>{2, 5}, 0.1),
                   std::make_shared<CosineAnnealingWarmRestarts>(
                       o, WarmRestartsOptions{.T_0 = 6, .eta_min = 0.001}),
                   std::make_shared<PolynomialLR>(o, 5, 2.0)};
  std::vector<std::reference_wrapper<LRScheduler>> parts;
  for (const auto& each : all) parts.emplace_back(*each);
  all.push_back(std::make_shared<SequentialLR>(o, parts, std::vector<std::int64_t>{5, 15, 24, 34}));
  return all;
}

Schedules sequential_of_three(Optimizer& o) {
  Schedules all = {std::make_shared<StepLR>(o, 2),
                   std::make_shared<LambdaLR>(
                       o, [](std::int64_t epoch) { return 0.5 / static_cast<double>(1 + epoch); }),
                   std::make_shared<OneCycleLR>(
                       o, OneCycleLROptions{.max_lr = 0.4, .total_steps = 20, .pct_start = 0})};
  all.push_back(std::make_shared<SequentialLR>(
      o, std::vector<std::reference_wrapper<LRScheduler>>{*all[0], *all[1], *all[2]},
      std::vector<std::int64_t>{3, 9}));
  return all;
}

Schedules chained(Optimizer& o) {
  Schedules all = {std::make_shared<ConstantLR>(o, 0.1, 6), std::make_shared<ExponentialLR>(o, 0.9),
                   std::make_shared<LinearLR>(o, LinearLROptions{0.5, 1.0, 9})};
  all.push_back(std::make_shared<ChainedScheduler>(
      std::vector<std::reference_wrapper<LRScheduler>>{*all[0], *all[1], *all[2]}));
  return all;
}

Schedules sequential_of_a_chain(Optimizer& o) {
  Schedules all = {std::make_shared<LinearLR>(o, LinearLROptions{0.5, 1.0, 9}),
                   std::make_shared<ExponentialLR>(o, 0.9)};
  all.push_back(std::make_shared<ChainedScheduler>(
      std::vector<std::reference_wrapper<LRScheduler>>{*all[0], *all[1]}));
  all.push_back(std::make_shared<StepLR>(o, 5, 0.5));
  all.push_back(std::make_shared<SequentialLR>(
      o, std::vector<std::reference_wrapper<LRScheduler>>{*all[2], *all[3]},
      std::vector<std::int64_t>{12}));
  return all;
}

struct Case {
  std::string name;
  std::function<Schedules(Optimizer&)> make;  // the last one is the schedule
};

const std::vector<Case>& cases() {
  static const std::vector<LambdaLR::Factor> factors = {
      [](std::int64_t epoch) { return std::pow(0.9, static_cast<double>(epoch)); },
      [](std::int64_t epoch) { return 1 / (1 + static_cast<double>(epoch)); }};
  static const OneCycleLROptions cycle{.max_lr = 0.4, .total_steps = 30};
  static const std::vector<Case> all = {
      {"step", [](Optimizer& o) { return just<StepLR>(o, 7, 0.3); }},
      {"multi_step",
       [](Optimizer& o) {
         return just<MultiStepLR>(o, std::vector<std::int64_t>{4, 9, 9, 30}, 0.5);
       }},
      {"exponential", [](Optimizer& o) { return just<ExponentialLR>(o, 0.93); }},
      {"constant", [](Optimizer& o) { return just<ConstantLR>(o, 0.25, 6); }},
      {"linear",
       [](Optimizer& o) {
         return just<LinearLR>(o, LinearLROptions{0.1, 0.7, 11});
       }},
      {"polynomial", [](Optimizer& o) { return just<PolynomialLR>(o, 20, 1.7); }},
      {"lambda", [](Optimizer& o) { return just<LambdaLR>(o, factors); }},
      {"cosine", [](Optimizer& o) { return just<CosineAnnealingLR>(o, 12, 0.003); }},
      {"warm_restarts",
       [](Optimizer& o) {
         return just<CosineAnnealingWarmRestarts>(o, WarmRestartsOptions{5, 1, 0.001});
       }},
      {"warm_restarts_2",
       [](Optimizer& o) {
         return just<CosineAnnealingWarmRestarts>(o, WarmRestartsOptions{4, 2, 0.001});
       }},
      {"one_cycle", [](Optimizer& o) { return just<OneCycleLR>(o, cycle); }},
      {"one_cycle_betas", [](Optimizer& o) { return just<OneCycleLR>(o, cycle); }},
      {"one_cycle_lists",
       [](Optimizer& o) {
         return just<OneCycleLR>(o, OneCycleLROptions{.max_lr = {0.4, 0.05},
                                                      .total_steps = 30,
                                                      .base_momentum = {0.8, 0.7},
                                                      .max_momentum = {0.9, 0.97}});
       }},
      {"one_cycle_3",
       [](Optimizer& o) {
         return just<OneCycleLR>(o, OneCycleLROptions{.max_lr = 0.4,
                                                      .total_steps = 40,
                                                      .pct_start = 0.25,
                                                      .anneal_strategy = AnnealStrategy::linear,
                                                      .base_momentum = 0.8,
                                                      .max_momentum = 0.9,
                                                      .div_factor = 10,
                                                      .final_div_factor = 100,
                                                      .three_phase = true});
       }},
      {"sequential", sequential},
      {"sequential_2", sequential_of_five},
      {"sequential_3", sequential_of_three},
      {"chained", chained},
      {"sequential_of_a_chain", sequential_of_a_chain},
      {"cosine_with_warmup",
       [](Optimizer& o) {
         return just<CosineWithWarmup>(o, CosineWithWarmupOptions{7, 30, 0.001});
       }},
      {"inverse_square_root", [](Optimizer& o) { return just<InverseSquareRootLR>(o, 6); }},
      {"wsd",
       [](Optimizer& o) {
         return just<WSDLR>(o, WSDLROptions{5, 40, 12, 0.0005});
       }},
      {"wsd_sqrt",
       [](Optimizer& o) {
         return just<WSDLR>(o, WSDLROptions{5, 40, 12, 0.0005, WSDDecay::one_minus_sqrt});
       }},
  };
  return all;
}

std::unique_ptr<Optimizer> optimizer_for(const std::string& name) {
  if (name != "one_cycle_betas") return std::make_unique<SGD>(two_rates());
  return std::make_unique<AdamW>(two_groups<AdamW>({}));
}

}  // namespace

TEST_CASE("schedules have PyTorch's rates and momenta at every epoch") {
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const auto& run = torch_schedules()["runs"].at(each.name);
    const auto optimizer = optimizer_for(each.name);
    const Schedules schedules = each.make(*optimizer);
    LRScheduler& schedule = *schedules.back();
    for (std::size_t epoch = 0; epoch < run["rates"].size(); ++epoch) {
      CAPTURE(epoch);
      if (epoch > 0) schedule.step();
      check_rates(*optimizer, run["rates"][epoch]);
      CHECK(schedule.get_last_lr() == std::vector{optimizer->lr(0), optimizer->lr(1)});
      CHECK(schedule.last_epoch() == static_cast<std::int64_t>(epoch));
      if (!run["momenta"].empty())
        CHECK(std::abs(*optimizer->momentum(0) - run["momenta"][epoch].get<double>()) <= 1e-15);
      if (run.contains("momenta_1"))
        CHECK(std::abs(*optimizer->momentum(1) - run["momenta_1"][epoch].get<double>()) <= 1e-15);
    }
  }
}

TEST_CASE("a schedule that continues from its state has the bits of an uninterrupted one") {
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const auto whole = optimizer_for(each.name);
    const Schedules schedules = each.make(*whole);
    for (int epoch = 0; epoch < 11; ++epoch) schedules.back()->step();
    const nn::StateDict rates = whole->state_dict(), state = schedules.back()->state_dict();

    const auto resumed = optimizer_for(each.name);
    resumed->set_lr(0.7);
    const Schedules others = each.make(*resumed);
    resumed->load_state_dict(rates);
    others.back()->load_state_dict(state);
    CHECK(others.back()->get_last_lr() == schedules.back()->get_last_lr());
    for (int epoch = 0; epoch < 15; ++epoch) {
      schedules.back()->step();
      others.back()->step();
      CHECK(whole->lr(0) == resumed->lr(0));
      CHECK(whole->lr(1) == resumed->lr(1));
      CHECK(whole->momentum(1) == resumed->momentum(1));
    }
  }
}

TEST_CASE("schedules refuse invalid options and states that do not fit") {
  SGD optimizer = two_rates();
  CHECK_THROWS_WITH(StepLR(optimizer, 0), "[StepLR] step_size must be at least 1, got 0");
  CHECK_THROWS_WITH(ConstantLR(optimizer, 1.5), ContainsSubstring("(0, 1]"));
  CHECK_THROWS_WITH(ConstantLR(optimizer, 0), ContainsSubstring("(0, 1]"));
  CHECK_THROWS_WITH(LinearLR(optimizer, {.start_factor = 0}), ContainsSubstring("start_factor"));
  CHECK_THROWS_WITH(LinearLR(optimizer, {.end_factor = -1}), ContainsSubstring("end_factor"));
  CHECK_THROWS_WITH(LinearLR(optimizer, {.total_iters = 0}), ContainsSubstring("total_iters"));
  CHECK_THROWS_WITH(PolynomialLR(optimizer, 0), ContainsSubstring("total_iters"));
  CHECK_THROWS_WITH(CosineAnnealingLR(optimizer, 0), ContainsSubstring("T_max"));
  CHECK_THROWS_WITH(CosineAnnealingWarmRestarts(optimizer, {.T_0 = 0}), ContainsSubstring("T_0"));
  CHECK_THROWS_WITH(LambdaLR(optimizer, std::vector<LambdaLR::Factor>(3)),
                    ContainsSubstring("each of the 2 groups, got 3"));
  CHECK_THROWS_WITH(LambdaLR(optimizer, LambdaLR::Factor()), ContainsSubstring("is empty"));
  CHECK_THROWS_WITH(OneCycleLR(optimizer, {.max_lr = 1}), ContainsSubstring("total_steps"));
  CHECK_THROWS_WITH(OneCycleLR(optimizer, {.max_lr = 1, .total_steps = 9, .pct_start = 1.5}),
                    ContainsSubstring("pct_start"));
  CHECK_THROWS_WITH(OneCycleLR(optimizer, {.max_lr = {1, 1, 1}, .total_steps = 9}),
                    "[OneCycleLR] max_lr must be one number or one for each of the 2 groups, but "
                    "has 3");
  CHECK_THROWS_WITH(OneCycleLR(optimizer, {.max_lr = 1, .total_steps = 9, .base_momentum = {0.5}}),
                    "[OneCycleLR] base_momentum must be one number or one for each of the 2 "
                    "groups, but has 1");
  CHECK_THROWS_WITH(OneCycleLR(optimizer, {.max_lr = 1, .total_steps = 9, .max_momentum = {0.5}}),
                    "[OneCycleLR] max_momentum must be one number or one for each of the 2 groups, "
                    "but has 1");
  CHECK_THROWS_WITH(CosineWithWarmup(optimizer, {5, 5}), ContainsSubstring("total - warmup"));
  CHECK_THROWS_WITH(InverseSquareRootLR(optimizer, 0), ContainsSubstring("warmup"));
  CHECK_THROWS_WITH(WSDLR(optimizer, {.warmup = 5, .total = 9, .decay = 5}),
                    ContainsSubstring("total - decay"));
  Adagrad without({zeros({1}).requires_grad_()}, 0.1);
  CHECK_THROWS_WITH(OneCycleLR(without, {.max_lr = 1, .total_steps = 9}),
                    ContainsSubstring("no momentum to cycle"));

  OneCycleLR cycle(optimizer, {.max_lr = 1, .total_steps = 1});
  cycle.step();
  const double before = optimizer.lr(0);
  CHECK_THROWS_WITH(cycle.step(), "[OneCycleLR] step 2 is after the last step, 1");
  CHECK(optimizer.lr(0) == before);
  CHECK(cycle.last_epoch() == 1);

  SGD other = two_rates();
  StepLR step(optimizer, 1), foreign(other, 1);
  CHECK_THROWS_WITH(ChainedScheduler({step, foreign}), ContainsSubstring("different optimizers"));
  CHECK_THROWS_WITH(ChainedScheduler({}), ContainsSubstring("no schedules"));
  CHECK_THROWS_WITH(SequentialLR(optimizer, {}, {}), ContainsSubstring("no schedules"));
  CHECK_THROWS_WITH(SequentialLR(optimizer, {step, step}, {}), ContainsSubstring("1 milestones"));
  CHECK_THROWS_WITH(SequentialLR(optimizer, {step, step}, {0}), ContainsSubstring("milestone 0"));
  ChainedScheduler chain({step});
  CHECK_THROWS_WITH(SequentialLR(optimizer, {step, chain}, {3}),
                    ContainsSubstring("schedule 1 combines others"));
  SequentialLR both(optimizer, {step}, {});
  CHECK_THROWS_WITH(SequentialLR(optimizer, {step, both}, {3}),
                    ContainsSubstring("schedule 1 combines others"));

  const nn::StateDict state = chain.state_dict();
  const auto refuses = [&](const std::string& message, const auto& change) {
    CAPTURE(message);
    nn::StateDict wrong = state;
    wrong["last_epoch"] = tensor(std::int64_t{5});
    change(wrong);
    CHECK_THROWS_WITH(chain.load_state_dict(wrong), ContainsSubstring(message));
    CHECK(chain.last_epoch() == 0);
  };
  refuses("0.last_lr is missing", [](auto& s) { s.erase("0.last_lr"); });
  refuses("0.base_lrs is (1,) float64, not (2,) float64",
          [](auto& s) { s["0.base_lrs"] = ones({1}, float64); });
  refuses("0.base_lrs is undefined", [](auto& s) { s["0.base_lrs"] = Tensor(); });
  refuses("0.base_lrs is (2,) float32, not (2,) float64",
          [](auto& s) { s["0.base_lrs"] = ones({2}); });
  refuses("0.last_epoch is 9007199254740993, not a count",
          [](auto& s) { s["0.last_epoch"] = tensor((std::int64_t{1} << 53) + 1); });
  refuses("0.last_epoch is -7", [](auto& s) { s["0.last_epoch"] = tensor(std::int64_t{-7}); });
  refuses("1.last_epoch is unknown", [](auto& s) { s["1.last_epoch"] = tensor(std::int64_t{1}); });
  refuses("twice", [](auto& s) { s.emplace_back("last_lr", ones({2}, float64)); });
}

TEST_CASE("a cycle may leave the momentum unchanged") {
  SGD optimizer = two_rates();
  const double momentum = *optimizer.momentum(0);
  OneCycleLR cycle(optimizer, {.max_lr = 1, .total_steps = 9, .cycle_momentum = false});
  cycle.step();
  CHECK(*optimizer.momentum(0) == momentum);
}

TEST_CASE("groups that are added after a schedule was made have PyTorch's rates") {
  std::size_t followed = 0;
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const auto& run = torch_schedules()["runs"].at(each.name);
    if (!run.contains("later") || run["later"].empty()) continue;
    SGD optimizer = two_rates();
    const Schedules schedules = each.make(optimizer);
    for (int step = 0; step < 3; ++step) schedules.back()->step();
    optimizer.add_group({zeros({1}).requires_grad_()}, {.lr = 1});
    const nn::StateDict state = schedules.back()->state_dict();
    for (const auto& later : run["later"]) {
      schedules.back()->step();
      const auto rate = later.get<double>();
      CHECK(std::abs(optimizer.lr(2) - rate) <= kRateTolerance * std::abs(rate));
    }
    if (run["later"].back() != 1.0) ++followed;
    schedules.back()->load_state_dict(state);  // the saved state still fits
  }
  CHECK(followed >= 8);
}

TEST_CASE("schedules refuse rates and momenta that would not be finite") {
  SGD optimizer = two_rates();
  const auto refused = [&](const OneCycleLROptions& options, const std::string& message) {
    CAPTURE(message);
    CHECK_THROWS_WITH(OneCycleLR(optimizer, options), ContainsSubstring(message));
    CHECK(optimizer.lr(0) == 0.1);
    CHECK_FALSE(optimizer.initial_lr(0).has_value());
  };
  // PyTorch divides by zero, too.
  refused({.max_lr = 1, .total_steps = 10, .pct_start = 0.1},
          "the rate of group 0 at epoch 0 must be finite");
  refused({.max_lr = 1, .total_steps = 9, .div_factor = 0}, "the rate of group 0 at epoch 0");
  refused({.max_lr = {1, INFINITY}, .total_steps = 9}, "the rate of group 1 at epoch 0");
  refused({.max_lr = 1, .total_steps = 9, .max_momentum = NAN}, "the momentum of group 0");

  OneCycleLR all_rise(optimizer, {.max_lr = 1, .total_steps = 2, .pct_start = 1});
  all_rise.step();
  CHECK_THROWS_WITH(all_rise.step(),
                    ContainsSubstring("the rate of group 0 at epoch 2 must be finite"));
  CHECK(all_rise.last_epoch() == 1);

  PolynomialLR pole(optimizer, 1, -1);
  CHECK_THROWS_WITH(
      pole.step(), "[LRScheduler] the rate of group 0 at epoch 1 must be finite, but would be inf");
  CHECK(pole.last_epoch() == 0);
}

TEST_CASE("a schedule has the same rates after another schedule as by itself") {
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const auto optimizer = optimizer_for(each.name), other = optimizer_for(each.name);
    StepLR before(*optimizer, 2);
    const Schedules parts = each.make(*optimizer), alone = each.make(*other);
    if (parts.size() > 1) continue;  // a schedule that combines others cannot start later
    SequentialLR schedule(*optimizer, {before, *parts[0]}, {1});
    for (int step = 0; step < 3; ++step) {
      CAPTURE(step);
      schedule.step();
      for (const std::size_t group : {0U, 1U}) {
        CHECK(optimizer->lr(group) == other->lr(group));
        CHECK(optimizer->momentum(group) == other->momentum(group));
      }
      alone[0]->step();
    }
  }
}

TEST_CASE("groups that are added later keep their rates if PyTorch has no rule for them") {
  SGD optimizer = two_rates();
  OneCycleLR cycle(optimizer, {.max_lr = 0.4, .total_steps = 30});
  WSDLR wsd(optimizer, {.total = 30});
  optimizer.add_group({zeros({1}).requires_grad_()}, {.lr = 1});
  cycle.step();
  wsd.step();
  CHECK(optimizer.lr(2) == 1);
}

// The expected rates are from PyTorch 2.6 for the same calls.
TEST_CASE("cosine annealing does not change a later group's rate at the minimum") {
  SGD optimizer({zeros({1}).requires_grad_()}, {.lr = 1});
  CosineAnnealingLR schedule(optimizer, 2);
  schedule.step();
  schedule.step();
  optimizer.add_group({zeros({1}).requires_grad_()}, {.lr = 0.5});
  std::vector<double> rates;
  for (int i = 0; i < 4; ++i) {
    schedule.step();
    rates.push_back(optimizer.lr(1));
  }
  const std::vector<double> torch{0.5, 1.0, 0.5, 0.0};
  // cos(pi / 2) is 6e-17.
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(rates[i] - torch[i]) < 1e-15);
}

TEST_CASE("one cycle sets the rate from which later schedules begin") {
  const Tensor w = ones({1}, {.requires_grad = true});
  optim::SGD optimizer({w}, {.lr = 0.1, .momentum = 0.9});
  optim::ConstantLR constant(optimizer, 0.5, 2);
  optim::OneCycleLR cycle(optimizer, {.max_lr = 0.3, .total_steps = 10});
  optim::SequentialLR schedule(optimizer, {constant, cycle}, {3});
  // torch.optim.lr_scheduler's get_last_lr(), at the beginning and after each of three steps
  for (const double rate : {0.006, 0.006, 0.012, 0.012}) {
    CHECK(optimizer.lr(0) == Approx(rate));
    schedule.step();
  }
}

TEST_CASE("a linear rate ends at zero and the state of a negative rate can be loaded") {
  for (const std::int64_t iters : {4, 5, 7, 10, 100}) {
    SGD optimizer({zeros({1}).requires_grad_()}, 0.1);
    LinearLR schedule(optimizer, {.end_factor = 0, .total_iters = iters});
    for (std::int64_t i = 0; i < iters; ++i) schedule.step();
    CHECK(optimizer.lr(0) >= 0);
    CHECK(optimizer.lr(0) < 1e-16);
    optimizer.step();
  }
  // After its last step, a Trainer saves a rate that is not used. This rate may be negative.
  SGD optimizer({zeros({1}).requires_grad_()}, {.lr = 0.1, .momentum = 0.9});
  OneCycleLR cycle(optimizer, {.max_lr = 0.4,
                               .total_steps = 10,
                               .anneal_strategy = "linear",
                               .base_momentum = 0.85,
                               .max_momentum = 0.999});
  for (int i = 0; i < 10; ++i) cycle.step();
  CHECK(optimizer.lr(0) < 0);  // as in PyTorch
  const double rate = optimizer.lr(0);
  const nn::StateDict state = optimizer.state_dict();
  optimizer.set_lr(0, 1);
  optimizer.load_state_dict(state);
  CHECK(optimizer.lr(0) == rate);
  CHECK_THROWS_AS(optimizer.step(), Error);
}

TEST_CASE("ReduceLROnPlateau reduces rates when a metric has stopped improving") {
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
      // A new schedule continues from the state of the old one.
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
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.factor = 1}), ContainsSubstring("(0, 1)"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.patience = -1}), ContainsSubstring("patience"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.factor = 0}), ContainsSubstring("(0, 1)"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.cooldown = -1}), ContainsSubstring("cooldown"));
}

TEST_CASE("ReduceLROnPlateau refuses a state that does not fit and changes nothing") {
  SGD optimizer = two_rates();
  ReduceLROnPlateau schedule(optimizer, {.patience = 1});
  schedule.step(3);
  const nn::StateDict sound = schedule.state_dict();
  const auto refuses = [&](const char* name, const Tensor& value, const char* reason) {
    nn::StateDict state = sound;
    state["best"] = tensor(7.0, float64);
    state[name] = value;
    CHECK_THROWS_WITH(schedule.load_state_dict(state), ContainsSubstring(reason));
    CHECK(schedule.best() == 3);
  };
  refuses("best", Tensor(), "best is undefined");
  refuses("last_epoch", tensor(2.0), "last_epoch is () float32, not () int64");
  refuses("num_bad_epochs", tensor(std::int64_t{-1}), "not a count");
  refuses("patience", tensor(std::int64_t{1}), "patience is unknown");
}

TEST_CASE("ReduceLROnPlateau may have a minimum rate for each group") {
  SGD optimizer = two_rates();
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizer, {.min_lr = {0.1, 0.1, 0.1}}),
                    "[ReduceLROnPlateau] min_lr must be one number or one for each of the 2 "
                    "groups, but has 3");
  optimizer.add_group({zeros({1}).requires_grad_()}, {.lr = 1});
  // A single minimum also applies to groups that are added later.
  ReduceLROnPlateau one(optimizer, {.patience = 0, .min_lr = 0.5});
  one.step(1);
  one.step(2);
  CHECK(optimizer.lr(2) == 0.5);
}
