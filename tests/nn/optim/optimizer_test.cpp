#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "tests/arrays.h"
#include "tests/nn/fixtures.h"
#include "tests/nn/optim/torch_runs.h"
#include "tests/simd_targets.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend;

namespace {

// The tolerance for the twelve float32 steps of make_nn.py. Numbers are up to 4, so that their last
// bit is 2.4e-7, and the errors of a few last bits add up over the steps.
constexpr double kTolerance = 2e-6;

template <class Optimizer>
void check_steps(const std::string& name, const typename Optimizer::Options& options,
                 const Tensor& start) {
  const Tensor weight = tensor({0.1, 1.0, 0.5, 2.0});
  const Tensor target = tensor({0.5, 0.25, -1.0, 2.0});
  Tensor p = start;
  p.requires_grad_();
  Optimizer optimizer({p}, options);
  const auto& steps = torch_nn().at("optimizers").at(name);
  REQUIRE(steps.size() == 12);
  for (const auto& expected : steps) {
    optimizer.zero_grad();
    const Tensor error = p - target;
    (error * error * weight).sum().backward();
    optimizer.step();
    check_close(p, expected, kTolerance);
  }
}

template <class O>
typename O::Options adam_options(const nlohmann::json& o) {
  return {.lr = o["lr"],
          .betas = {o["betas"][0], o["betas"][1]},
          .eps = o["eps"],
          .weight_decay = o["weight_decay"],
          .amsgrad = o["amsgrad"].get<bool>(),
          .maximize = o["maximize"].get<bool>()};
}

Tensor start() {
  return tensor({1.0, -2.0, 3.0, 0.5});
}

// Steps three parameters five times, then adds w2 as a separate group and steps ten times more.
template <class Optimizer>
void check_grown(const std::string& name, const typename Optimizer::Options& options,
                 const typename Optimizer::Options& later) {
  INFO(name);
  const auto& expected = test::torch_optimizers()["grown"][name];
  std::vector<Tensor> p = test::start_model();
  Optimizer optimizer({p[0], p[1], p[2]}, options);
  for (int step = 0; step < 15; ++step) {
    if (step == 5) optimizer.add_group({p[3]}, later);
    for (Tensor& each : p) each.zero_grad();
    test::go_backward(p, false);
    optimizer.step();
    // The tolerance is explained in torch_runs.h.
    if (step == 4) CHECK(test::distance(test::all_of(p), expected[0]) <= 1e-14);
    if (step == 14) CHECK(test::distance(test::all_of(p), expected[1]) <= 1e-14);
  }
}

}  // namespace

TEST_CASE("optimizers step as PyTorch's, with their defaults and with other settings") {
  check_steps<optim::SGD>("sgd", {.lr = 0.1}, start());
  check_steps<optim::SGD>("sgd_momentum",
                          {.lr = 0.1, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.01},
                          start());
  check_steps<optim::SGD>("sgd_nesterov", {.lr = 0.1, .momentum = 0.9, .nesterov = true}, start());
  check_steps<optim::AdamW>("adamw", {.lr = 0.01}, start());
  check_steps<optim::AdamW>("adamw_settings",
                            {.lr = 0.05, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1},
                            start());
}

// The runs in tests/data/optimizers.json have the same options. The runs of Lion, which PyTorch
// does not have, use the formula of its paper.
TEST_CASE("optimizers step a model as PyTorch does, with all of their options", "[products]") {
  using nlohmann::json;
  CHECK(test::check_runs<optim::Adam>("Adam", adam_options<optim::Adam>) == 20);
  CHECK(test::check_runs<optim::AdamW>("AdamW", adam_options<optim::AdamW>) == 20);
  CHECK(test::check_runs<optim::SGD>("SGD", [](const json& o) {
          return optim::SGDOptions{.lr = o["lr"],
                                   .momentum = o["momentum"],
                                   .dampening = o.value("dampening", 0.0),
                                   .weight_decay = o["weight_decay"],
                                   .nesterov = o.value("nesterov", false),
                                   .maximize = o["maximize"].get<bool>()};
        }) == 20);
  CHECK(test::check_runs<optim::RMSprop>("RMSprop", [](const json& o) {
          return optim::RMSpropOptions{.lr = o["lr"],
                                       .alpha = o["alpha"],
                                       .eps = o["eps"],
                                       .weight_decay = o["weight_decay"],
                                       .momentum = o["momentum"],
                                       .centered = o["centered"].get<bool>(),
                                       .maximize = o["maximize"].get<bool>()};
        }) == 40);
  CHECK(test::check_runs<optim::Adagrad>("Adagrad", [](const json& o) {
          return optim::AdagradOptions{.lr = o["lr"],
                                       .lr_decay = o["lr_decay"],
                                       .weight_decay = o["weight_decay"],
                                       .initial_accumulator_value = o["initial_accumulator_value"],
                                       .eps = o["eps"],
                                       .maximize = o["maximize"].get<bool>()};
        }) == 32);
  CHECK(test::check_runs<optim::Lion>("Lion", [](const json& o) {
          return optim::LionOptions{.lr = o["lr"],
                                    .betas = {o["betas"][0], o["betas"][1]},
                                    .weight_decay = o["weight_decay"]};
        }) == 4);
}

TEST_CASE("a group that is added after some steps has PyTorch's steps") {
  REQUIRE(test::torch_optimizers()["grown"].size() == 4);
  check_grown<optim::SGD>("SGD", {.lr = 0.01, .momentum = 0.9}, {.lr = 0.05, .momentum = 0.5});
  check_grown<optim::Adam>("Adam", {.lr = 0.02, .amsgrad = true},
                           {.lr = 0.01, .betas = {0.8, 0.9}, .amsgrad = true});
  check_grown<optim::AdamW>("AdamW", {.lr = 0.02}, {.lr = 0.01, .weight_decay = 0.2});
  check_grown<optim::RMSprop>("RMSprop", {.lr = 0.002, .momentum = 0.9},
                              {.lr = 0.01, .momentum = 0.9, .centered = true});
}

TEST_CASE("an optimizer steps a parameter that is a strided view") {
  const Tensor storage = zeros({4, 2});
  const Tensor column = storage.detach().select(1, 1);
  column.copy_(start());
  check_steps<optim::AdamW>("adamw", {.lr = 0.01}, Tensor(column.array()));
  CHECK(storage.select(1, 0).to_vector<float>() == std::vector<float>(4, 0.0f));
}

TEST_CASE("an optimizer accepts a learning rate as its only option") {
  const Tensor p = ones({2}, {.requires_grad = true});
  CHECK(optim::SGD({p}, 1).groups()[0].options.lr == 1);
  optim::AdamW adamw({p}, 1e-4);
  const optim::AdamWOptions& options = adamw.groups()[0].options;
  CHECK(options.lr == 1e-4);
  CHECK(options.betas == std::pair(0.9, 0.999));
  CHECK(options.weight_decay == 0.01);
}

TEST_CASE("steps have the same bits on every target and for any number of threads") {
  using Parameters = std::vector<Tensor>;
  using Make = std::function<std::unique_ptr<optim::Optimizer>(const Parameters&)>;
  const auto with = []<class O>(const typename O::Options& options) -> Make {
    return [=](const Parameters& p) { return std::make_unique<O>(p, options); };
  };
  const std::vector<Make> optimizers = {
      with.operator()<optim::AdamW>({.lr = 0.1}),
      with.operator()<optim::Adam>(
          {.lr = 0.1, .weight_decay = 0.1, .amsgrad = true, .maximize = true}),
      with.operator()<optim::SGD>(
          {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true}),
      with.operator()<optim::RMSprop>({.weight_decay = 0.1, .momentum = 0.9, .centered = true}),
      with.operator()<optim::Adagrad>({.lr_decay = 0.1}),
      with.operator()<optim::Lion>({.weight_decay = 0.1})};
  for (const DType dtype : {float32, float64}) {
    for (const Make& make : optimizers) {
      const auto trained = [&] {
        Generator generator(5);
        Parameters parameters;
        for (const Shape& shape : {Shape{3}, {40000}, {}, {17, 5}, {0, 4}, {1}}) {
          parameters.push_back((rand(shape, dtype, generator) - 0.5).requires_grad_());
          parameters.back().set_grad(rand(shape, dtype, generator) - 0.5);
        }
        const auto optimizer = make(parameters);
        for (int i = 0; i < 3; ++i) optimizer->step();
        return test::all_of(parameters).array();
      };
      const Array expected = trained();
      test::for_each_simd_target([&](const std::string& target) {
        INFO(target << " " << dtype_name(dtype));
        CHECK(test::same_bits(trained(), expected));
      });
      CHECK(test::same_bits_for_any_thread_count(trained));
    }
  }
}

TEST_CASE("optimizers refuse parameters that they cannot step") {
  const Tensor p = start().requires_grad_();
  CHECK_THROWS_WITH(optim::AdamW(std::vector<Tensor>()),
                    "[AdamW] optimizer got an empty parameter list");
  CHECK_THROWS_WITH(optim::SGD(nn::ReLU().parameters()),
                    "[SGD] optimizer got an empty parameter list");
  CHECK_THROWS_AS(optim::SGD({tensor({1, 2})}), DTypeError);
  CHECK_THROWS_WITH(optim::SGD({p * 2}),
                    "[Optimizer] parameters must be leaves, but one of shape (4,) has history");
  CHECK_THROWS_WITH(optim::SGD({p, p}),
                    "[Optimizer] each parameter must be given once, but one of shape (4,) is given "
                    "twice");
  optim::AdamW optimizer({p});
  CHECK_THROWS_AS(optimizer.add_group({p}, {}), Error);
  CHECK(optimizer.groups().size() == 1);

  Tensor expanded = Tensor(zeros({1}).expand({3}).array()).requires_grad_();
  expanded.set_grad(ones({3}));
  CHECK_THROWS_WITH(optim::SGD({expanded}, {.lr = 1.0}).step(),
                    ContainsSubstring("two indices may share an element"));
  CHECK(expanded.to_vector<float>() == std::vector<float>(3, 0.0f));
}

TEST_CASE("optimizers refuse options out of range and change nothing") {
  const Tensor p = start().requires_grad_();
  CHECK_THROWS_WITH(optim::Adam({p}, {.betas = {1.0, 0.9}}),
                    "[Adam] betas (1, 0.9) must lie in [0, 1)");
  CHECK_THROWS_WITH(optim::AdamW({p}, {.lr = std::numeric_limits<double>::quiet_NaN()}),
                    "[AdamW] lr must be at least 0, got nan");
  CHECK_THROWS_WITH(optim::SGD({p}, {.weight_decay = -1}),
                    "[SGD] weight_decay must be at least 0, got -1");
  CHECK_THROWS_WITH(optim::SGD({p}, {.nesterov = true}),
                    "[SGD] nesterov needs momentum, and no dampening");
  CHECK_THROWS_WITH(optim::SGD({p}, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
                    "[SGD] nesterov needs momentum, and no dampening");
  CHECK_THROWS_WITH(optim::RMSprop({p}, {.alpha = -0.5}),
                    "[RMSprop] alpha must be at least 0, got -0.5");
  CHECK_THROWS_WITH(optim::Adagrad({p}, {.lr_decay = -0.5}),
                    "[Adagrad] lr_decay must be at least 0, got -0.5");
  CHECK_THROWS_WITH(optim::Lion({p}, {.betas = {0.9, 1.0}}),
                    "[Lion] betas (0.9, 1) must lie in [0, 1)");
  optim::SGD optimizer({p}, 0.5);
  p.sum().backward();
  optimizer.set_lr(-1);
  CHECK_THROWS_WITH(optimizer.step(), "[SGD] lr must be at least 0, got -1");
  CHECK(equal(p.detach(), start()));
}

TEST_CASE("an optimizer refuses a gradient that no longer fits before it changes any parameter") {
  Tensor first = start().requires_grad_(), second = ones({2, 3}).requires_grad_();
  optim::AdamW optimizer({first, second});
  first.set_grad(ones({4}));
  second.set_grad(ones({2, 3}));
  {
    const NoGradGuard no_grad;
    second.t_();
  }
  CHECK_THROWS_WITH(optimizer.step(),
                    "[AdamW.step] the gradient of a tensor must have its shape (3, 2), but has "
                    "shape (2, 3)");
  CHECK_THROWS_AS(nn::clip_grad_norm_({first, second}, 1.0), ShapeError);
  CHECK(equal(first.detach(), start()));
  CHECK(equal(first.grad(), ones({4})));
  CHECK(!optimizer.state_dict().contains("0.step"));
  second.zero_grad();
  optimizer.step();
  CHECK_FALSE(equal(first.detach(), start()));
}

TEST_CASE("an optimizer refuses a parameter whose shape has changed") {
  Tensor p = start().requires_grad_();
  optim::AdamW optimizer({p});
  p.set_grad(ones({4}));
  optimizer.step();
  optimizer.zero_grad();
  p.set_data(ones({4000}));
  p.set_grad(ones({4000}));
  CHECK_THROWS_WITH(optimizer.step(),
                    "[AdamW.step] a parameter must be (4,) float32 as its exp_avg from earlier "
                    "steps, but is (4000,) float32");
  CHECK(p.to_vector<float>() == std::vector<float>(4000, 1.0f));
}

TEST_CASE("an optimizer skips a parameter without a gradient") {
  Tensor p = start().requires_grad_();
  optim::AdamW optimizer({p});
  optimizer.step();
  CHECK(p.to_vector<float>() == start().to_vector<float>());
  CHECK(!optimizer.state_dict().contains("0.step"));
}

TEST_CASE("each group has its own options") {
  Tensor a = ones({2}).requires_grad_();
  Tensor b = ones({2}).requires_grad_();
  optim::SGD optimizer({a}, {.lr = 1.0});
  optimizer.add_group({b}, {.lr = 0.25});
  (a.sum() + b.sum()).backward();
  optimizer.step();
  CHECK(a.to_vector<float>() == std::vector<float>{0, 0});
  CHECK(b.to_vector<float>() == std::vector<float>{0.75f, 0.75f});
}

TEST_CASE("a step with a closure computes gradients first and returns the loss") {
  const Tensor x = tensor({3.0}).requires_grad_();
  optim::SGD sgd({x}, {.lr = 0.5});
  optim::AdamW adamw({x}, {.lr = 0.5, .weight_decay = 0});
  const auto closure = [&] {
    sgd.zero_grad();
    Tensor loss = (x * x).sum();
    loss.backward();
    return loss;
  };
  const NoGradGuard guard;
  CHECK(sgd.step(closure).item() == 9);
  CHECK(x.item() == 0);
  CHECK_FALSE(grad_enabled());
  x.fill_(1);
  CHECK(adamw.step(closure).item() == 1);
  CHECK(x.item<float>() == Approx(0.5));
  CHECK_THROWS_WITH(sgd.step(std::function<Tensor()>()), ContainsSubstring("the closure is empty"));
  const auto failing = [&]() -> Tensor { throw std::logic_error("no loss"); };
  CHECK_THROWS_AS(sgd.step(failing), std::logic_error);
  CHECK(x.item<float>() == Approx(0.5));
}

TEST_CASE("an optimizer can be used through its base class") {
  const Tensor w = ones({2}).requires_grad_();
  optim::SGD sgd({w}, {.lr = 0.5, .momentum = 0.75});
  optim::Adagrad adagrad({w}, 0.1);
  optim::Lion lion({w}, {.betas = {0.5, 0.9}});
  optim::Optimizer& base = sgd;
  w.sum().backward();
  base.step();
  CHECK(w.to_vector<float>() == std::vector<float>{0.5, 0.5});
  base.zero_grad();
  CHECK(!w.grad().defined());
  CHECK(base.group_count() == 1);
  base.set_lr(0, 0.25);
  CHECK(base.lr(0) == 0.25);
  CHECK(*base.momentum(0) == 0.75);
  base.set_momentum(0, 0.5);
  CHECK(sgd.groups()[0].options.momentum == 0.5);
  CHECK(*static_cast<optim::Optimizer&>(lion).momentum(0) == 0.5);
  lion.set_momentum(0, 0.25);
  CHECK(lion.groups()[0].options.betas == std::pair(0.25, 0.9));
  CHECK(!adagrad.momentum(0).has_value());
  CHECK_THROWS_WITH(adagrad.set_momentum(0, 0.5), ContainsSubstring("has no momentum"));
  CHECK_THROWS_WITH(base.lr(1), "[lr] group 1 is out of range for 1 groups");
  CHECK_THROWS_AS(base.set_lr(1, 0.1), IndexError);
  CHECK_THROWS_AS(base.momentum(7), IndexError);
  const Tensor loss = base.step([&] {
    base.zero_grad();
    Tensor sum = w.sum();
    sum.backward();
    return sum;
  });
  CHECK(loss.item() == 1);
}

TEST_CASE("only matrices decay unless a predicate says otherwise") {
  class Net : public nn::Module<Net> {
   public:
    Net() : norm({4}), up(4, 3) {}
    TEND_MODULE(nn::LayerNorm, norm);
    TEND_MODULE(nn::Linear, up);
  };
  const Net net;
  optim::AdamW optimizer(optim::decay_groups(net, 0.1), {.lr = 0.5, .weight_decay = 7});
  REQUIRE(optimizer.group_count() == 2);
  REQUIRE(optimizer.groups()[0].parameters.size() == 1);
  CHECK(optimizer.groups()[0].parameters[0].impl() == net.up.weight.impl());
  CHECK(optimizer.groups()[0].options.weight_decay == 0.1);
  CHECK(optimizer.groups()[1].parameters.size() == 3);
  CHECK(optimizer.groups()[1].options.weight_decay == 0);
  CHECK(optimizer.lr(1) == 0.5);
  const optim::DecayGroups none = optim::decay_groups(
      net, 0.2, [](const std::string& name, const Tensor&) { return name == "up.bias"; });
  CHECK(none.decayed().size() == 1);
  CHECK(none.others().size() == 3);
  CHECK_THROWS_WITH(optim::SGD(optim::decay_groups(nn::ReLU(), 0.1)),
                    "[SGD] optimizer got an empty parameter list");
  CHECK_THROWS_WITH(optim::SGD(optim::decay_groups(net, -1)), ContainsSubstring("weight_decay"));
  CHECK_THROWS_WITH(optim::decay_groups(net, 0.1, {}), ContainsSubstring("is empty"));
}

TEST_CASE("a frozen parameter does not change and keeps its state until it is trained again") {
  const Tensor a = ones({1}).requires_grad_();
  Tensor b = ones({1}).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1, .momentum = 0.5});
  const auto train = [&] {
    optimizer.zero_grad();
    (a + b).sum().backward();
    optimizer.step();
  };
  train();
  b.requires_grad_(false);
  train();
  CHECK(b.item() == 0);
  b.requires_grad_(true);
  train();
  CHECK(a.item() == 1 - 1 - 1.5F - 1.75F);
  CHECK(b.item() == 0 - 1.5F);  // b's velocity is from the first step
}

TEST_CASE("running means round as torch.lerp does") {
  Tensor x = zeros({2}).requires_grad_();
  const auto run = [&](optim::Optimizer& optimizer, const Tensor& first, const Tensor& second) {
    x.set_grad(first);
    optimizer.step();
    x.set_grad(second);
    optimizer.step();
    return optimizer.state_dict();
  };
  optim::Adam adam({x}, {.lr = 1, .betas = {0.0, 0.9}});
  CHECK(run(adam, tensor({1e8, 1.}, float32), ones({2})).at("0.exp_avg").to_vector<float>() ==
        std::vector<float>{1, 1});
  optim::RMSprop rmsprop({x}, {.alpha = 0.3, .centered = true});
  const nn::StateDict state = run(rmsprop, tensor({1e8, 1.3}, float32), tensor({1., 1.7}, float32));
  // PyTorch's numbers. A fused operation of PyTorch may round differently.
  CHECK_THAT(
      state.at("0.grad_avg").to(float64).to_vector<double>(),
      Catch::Matchers::Approx(std::vector<double>{21000002, 1.4630000591278076}).epsilon(2e-7));
}

TEST_CASE("Lion does not move an element whose gradient is NaN") {
  const Tensor p = ones({2}, {.requires_grad = true});
  optim::Lion optimizer({p}, 0.5);
  (p * tensor({std::numeric_limits<float>::quiet_NaN(), 2.0f})).sum().backward();
  optimizer.step();
  CHECK(p.to_vector<float>() == std::vector<float>{1.0f, 0.5f});
}
