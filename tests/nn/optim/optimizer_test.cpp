#include <cmath>
#include <limits>

#include "tests/arrays.h"
#include "tests/nn/fixtures.h"
#include "tests/nn/optim/torch_runs.h"
#include "tests/simd_targets.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend;

namespace {

// The twelve steps of make_nn.py, float32. The tolerance is a few last bits of numbers up to 4
// (2.4e-7 each), collected over the steps.
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

Tensor start() {
  return tensor({1.0, -2.0, 3.0, 0.5});
}

// Five steps of three parameters, and ten more, which w2 joins in as a group of its own.
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
    // As in torch_runs.h.
    if (step == 4) CHECK(test::distance(test::all_of(p), expected[0]) <= 1e-14);
    if (step == 14) CHECK(test::distance(test::all_of(p), expected[1]) <= 1e-14);
  }
}

}  // namespace

TEST_CASE("SGD steps as PyTorch's, plain, with momentum, decay and Nesterov") {
  check_steps<optim::SGD>("sgd", {.lr = 0.1}, start());
  check_steps<optim::SGD>("sgd_momentum",
                          {.lr = 0.1, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.01},
                          start());
  check_steps<optim::SGD>("sgd_nesterov", {.lr = 0.1, .momentum = 0.9, .nesterov = true}, start());
}

TEST_CASE("AdamW steps as PyTorch's, with its defaults and with other settings") {
  check_steps<optim::AdamW>("adamw", {.lr = 0.01}, start());
  check_steps<optim::AdamW>("adamw_settings",
                            {.lr = 0.05, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1},
                            start());
}

TEST_CASE("a group that joins after some steps is stepped as PyTorch's") {
  REQUIRE(test::torch_optimizers()["grown"].size() == 4);
  check_grown<optim::SGD>("SGD", {.lr = 0.01, .momentum = 0.9}, {.lr = 0.05, .momentum = 0.5});
  check_grown<optim::Adam>("Adam", {.lr = 0.02, .amsgrad = true},
                           {.lr = 0.01, .betas = {0.8, 0.9}, .amsgrad = true});
  check_grown<optim::AdamW>("AdamW", {.lr = 0.02}, {.lr = 0.01, .weight_decay = 0.2});
  check_grown<optim::RMSprop>("RMSprop", {.lr = 0.002, .momentum = 0.9},
                              {.lr = 0.01, .momentum = 0.9, .centered = true});
}

TEST_CASE("an optimizer takes a learning rate alone") {
  const Tensor p = ones({2}, {.requires_grad = true});
  CHECK(optim::SGD({p}, 0.5).groups()[0].options.lr == 0.5);
  CHECK(optim::SGD({p}, 1).groups()[0].options.lr == 1);
  optim::AdamW adamw({p}, 1e-4);
  const optim::AdamWOptions& options = adamw.groups()[0].options;
  CHECK(options.lr == 1e-4);
  CHECK(options.betas == std::pair(0.9, 0.999));
  CHECK(options.weight_decay == 0.01);
  CHECK_THROWS_AS(optim::SGD({p}, -0.5), Error);
}

TEST_CASE("an optimizer steps a parameter that is a strided view") {
  const Tensor storage = zeros({4, 2});
  const Tensor column = storage.detach().select(1, 1);
  column.copy_(start());
  check_steps<optim::AdamW>("adamw", {.lr = 0.01}, Tensor(column.array()));
  CHECK(storage.select(1, 0).to_vector<float>() == std::vector<float>(4, 0.0f));
}

TEST_CASE("steps have the same bits on every target and for any number of threads") {
  const auto trained = [](auto make, DType dtype) {
    Generator generator(5);
    std::vector<Tensor> parameters;
    for (const Shape& shape : {Shape{3}, {40000}, {}, {17, 5}, {0, 4}, {1}}) {
      parameters.push_back((rand(shape, dtype, generator) - 0.5).requires_grad_());
      parameters.back().set_grad(rand(shape, dtype, generator) - 0.5);
    }
    auto optimizer = make(parameters);
    for (int i = 0; i < 3; ++i) optimizer.step();
    std::vector<Tensor> flat;
    flat.reserve(parameters.size());
    for (const Tensor& p : parameters) flat.push_back(p.detach().reshape({-1}));
    return cat(flat, 0).array();
  };
  const auto adamw = [](const auto& p) { return optim::AdamW(p, {.lr = 0.1}); };
  const auto adam = [](const auto& p) {
    return optim::Adam(p, {.lr = 0.1, .weight_decay = 0.1, .amsgrad = true, .maximize = true});
  };
  const auto sgd = [](const auto& p) {
    return optim::SGD(p, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
  };
  const auto rmsprop = [](const auto& p) {
    return optim::RMSprop(p, {.weight_decay = 0.1, .momentum = 0.9, .centered = true});
  };
  const auto adagrad = [](const auto& p) { return optim::Adagrad(p, {.lr_decay = 0.1}); };
  const auto lion = [](const auto& p) { return optim::Lion(p, {.weight_decay = 0.1}); };
  for (const DType dtype : {float32, float64}) {
    const auto by_others = [&] {
      return std::vector<Array>{trained(rmsprop, dtype), trained(adagrad, dtype),
                                trained(lion, dtype)};
    };
    const std::vector<Array> others = by_others();
    const Array by_adamw = trained(adamw, dtype), by_adam = trained(adam, dtype),
                by_sgd = trained(sgd, dtype);
    test::for_each_simd_target([&](const std::string& target) {
      INFO(target << " " << dtype_name(dtype));
      CHECK(test::same_bits(trained(adamw, dtype), by_adamw));
      CHECK(test::same_bits(trained(adam, dtype), by_adam));
      CHECK(test::same_bits(trained(sgd, dtype), by_sgd));
      const std::vector<Array> again = by_others();
      for (std::size_t i = 0; i < again.size(); ++i) CHECK(test::same_bits(again[i], others[i]));
    });
    CHECK(test::same_bits_for_any_thread_count([&] { return trained(adamw, dtype); }));
    CHECK(test::same_bits_for_any_thread_count([&] { return trained(adam, dtype); }));
    CHECK(test::same_bits_for_any_thread_count([&] { return trained(sgd, dtype); }));
    CHECK(test::same_bits_for_any_thread_count([&] { return trained(rmsprop, dtype); }));
    CHECK(test::same_bits_for_any_thread_count([&] { return trained(adagrad, dtype); }));
    CHECK(test::same_bits_for_any_thread_count([&] { return trained(lion, dtype); }));
  }
}

TEST_CASE("an optimizer refuses a parameter that it has already, and one with history") {
  const Tensor p = start().requires_grad_();
  CHECK_THROWS_WITH(optim::SGD({p, p}),
                    "[Optimizer] a parameter of shape (4,) is given twice; each is stepped once");
  optim::AdamW optimizer({p});
  CHECK_THROWS_AS(optimizer.add_group({p}, {}), Error);
  CHECK(optimizer.groups().size() == 1);
  CHECK_THROWS_WITH(optim::SGD({p * 2}),
                    "[Optimizer] a parameter of shape (4,) has history; only leaves are stepped");
}

TEST_CASE("an optimizer refuses a gradient that no longer fits, before any parameter is stepped") {
  Tensor first = start().requires_grad_(), second = ones({2, 3}).requires_grad_();
  optim::AdamW optimizer({first, second});
  first.set_grad(ones({4}));
  second.set_grad(ones({2, 3}));
  {
    const NoGradGuard no_grad;
    second.t_();
  }
  CHECK_THROWS_WITH(optimizer.step(),
                    "[AdamW.step] gradient (2, 3) float32 for a tensor (3, 2) float32");
  CHECK_THROWS_AS(nn::clip_grad_norm_({first, second}, 1.0), ShapeError);
  CHECK(equal(first.detach(), start()));
  CHECK(equal(first.grad(), ones({4})));
  CHECK(!optimizer.state_dict().contains("0.step"));
  second.zero_grad();
  optimizer.step();
  CHECK_FALSE(equal(first.detach(), start()));
}

TEST_CASE("an optimizer refuses a parameter that names an element twice") {
  Tensor p = Tensor(zeros({1}).expand({3}).array()).requires_grad_();
  p.set_grad(ones({3}));
  optim::SGD optimizer({p}, {.lr = 1.0});
  CHECK_THROWS_WITH(optimizer.step(),
                    "[SGD.step] a parameter of shape (3,) with strides (0,) may name one "
                    "element twice");
  CHECK(p.to_vector<float>() == std::vector<float>(3, 0.0f));
}

TEST_CASE(
    "parameters that share elements are stepped one after the other, however they are laid out") {
  const Array shared = Array::zeros({200, 300}, float32);
  Tensor rows(shared), columns(shared.transpose(0, 1));
  rows.set_grad(full({200, 300}, 1.0));
  columns.set_grad(full({300, 200}, 10.0));
  optim::SGD({rows, columns}, {.lr = 1.0}).step();
  CHECK(equal(Tensor(shared), full({200, 300}, -11.0)));
}

TEST_CASE("a step that finds no memory changes nothing, and can be taken again") {
  const auto train = [](bool fails) {
    // The gradient is an expanded view, whose row-major copy is what finds no memory.
    Tensor p = start().requires_grad_(), large = zeros({1}).requires_grad_();
    optim::AdamW optimizer({p});
    p.set_grad(ones({4}));
    if (fails) {
      float number = 0;  // nobody gets as far as to read the others
      const Shape shape{std::int64_t{1} << 45};
      large.set_data(from_blob(&number, shape));
      large.set_grad(zeros({1}).expand(shape));
      optimizer.add_group({large}, {});
      CHECK_THROWS_AS(optimizer.step(), OutOfMemoryError);
      CHECK(!optimizer.state_dict().contains("0.step"));
      large.zero_grad();
    }
    optimizer.step();
    return p.to_vector<float>();
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("an optimizer refuses a parameter that became another one") {
  Tensor p = start().requires_grad_();
  optim::AdamW optimizer({p});
  p.set_grad(ones({4}));
  optimizer.step();
  optimizer.zero_grad();
  p.set_data(ones({4000}));
  p.set_grad(ones({4000}));
  CHECK_THROWS_WITH(optimizer.step(),
                    "[AdamW.step] a parameter is (4000,) float32, its exp_avg from earlier steps "
                    "(4,) float32");
  CHECK(p.to_vector<float>() == std::vector<float>(4000, 1.0f));
}

TEST_CASE("a gradient that shares elements with another parameter is read after that one's step") {
  constexpr std::int64_t kMany = 1 << 20;
  Tensor p = zeros({kMany}).requires_grad_(), q = ones({kMany}).requires_grad_();
  p.set_grad(q.detach());
  q.set_grad(ones({kMany}));
  const int threads = num_threads();
  set_num_threads(2);
  optim::SGD({q, p}, {.lr = 1}).step();
  set_num_threads(threads);
  CHECK(equal(p.detach(), zeros({kMany})));
}

TEST_CASE("a parameter without gradient is passed over") {
  Tensor p = start().requires_grad_();
  optim::AdamW optimizer({p});
  optimizer.step();
  CHECK(p.to_vector<float>() == start().to_vector<float>());
  CHECK(!optimizer.state_dict().contains("0.step"));
}

TEST_CASE("groups have settings of their own") {
  Tensor a = ones({2}).requires_grad_();
  Tensor b = ones({2}).requires_grad_();
  optim::SGD optimizer({a}, {.lr = 1.0});
  optimizer.add_group({b}, {.lr = 0.25});
  (a.sum() + b.sum()).backward();
  optimizer.step();
  CHECK(a.to_vector<float>() == std::vector<float>{0, 0});
  CHECK(b.to_vector<float>() == std::vector<float>{0.75f, 0.75f});
}

TEST_CASE("optimizers refuse settings out of range") {
  Tensor p = start().requires_grad_();
  CHECK_THROWS_AS(optim::AdamW({p}, {.lr = -1.0}), Error);
  CHECK_THROWS_AS(optim::AdamW({p}, {.betas = {1.0, 0.999}}), Error);
  CHECK_THROWS_WITH(optim::AdamW({p}, {.lr = std::numeric_limits<double>::quiet_NaN()}),
                    "[AdamW] lr is nan, not a number from 0 on");
  CHECK_THROWS_WITH(optim::SGD({p}, {.weight_decay = -1}),
                    "[SGD] weight_decay is -1, not a number from 0 on");
  CHECK_THROWS_WITH(optim::SGD({p}, {.nesterov = true}),
                    "[SGD] nesterov needs momentum, and no dampening");
  CHECK_THROWS_WITH(optim::SGD({p}, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
                    "[SGD] nesterov needs momentum, and no dampening");
  CHECK_THROWS_AS(optim::SGD({tensor({1, 2})}), DTypeError);
}

TEST_CASE("steps do not write to what has a history") {
  Tensor y = zeros({2});
  y.requires_grad_();
  optim::SGD other({y}, {.lr = 0.5});
  y.requires_grad_(false);
  y.mul_(Tensor(ones({2})).requires_grad_());
  y.set_grad(ones({2}));
  CHECK_THROWS_WITH(other.step(),
                    "[SGD.step] a parameter of shape (2,) has a history since it was "
                    "given; only leaves are stepped");
  CHECK(y.to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("an optimizer over no parameters is refused") {
  CHECK_THROWS_WITH(optim::AdamW(std::vector<Tensor>()),
                    "[AdamW] optimizer got an empty parameter list");
  CHECK_THROWS_WITH(optim::SGD(nn::ReLU().parameters()),
                    "[SGD] optimizer got an empty parameter list");
}

TEST_CASE("a step with a closure computes gradients first and gives the loss") {
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
  const auto failing = [&]() -> Tensor { throw std::logic_error("no loss"); };
  CHECK_THROWS_AS(sgd.step(failing), std::logic_error);
  CHECK(x.item<float>() == Approx(0.5));
}

TEST_CASE("an optimizer is used through its base, as schedules do") {
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
  CHECK_THROWS_WITH(base.lr(1), "[lr] group 1 of 1");
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

TEST_CASE("matrices decay, biases and norms do not, unless a predicate says so") {
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
}

TEST_CASE("a frozen parameter stays, and goes on with its state when it is trained again") {
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
  CHECK(b.item() == 0 - 1.5F);  // its velocity is from the first step
}

TEST_CASE("a weight decay of zero does not touch parameters that are infinite") {
  const auto inf = std::numeric_limits<float>::infinity();
  const auto steps = [&](auto optimizer, Tensor& w) {
    w.set_grad(ones({2}));
    optimizer.step();
    CHECK(w.to_vector<float>()[0] == inf);
    CHECK(w.to_vector<float>()[1] < 1);
  };
  const auto infinite = [&] { return tensor({inf, 1.0F}).requires_grad_(); };
  Tensor w = infinite();
  steps(optim::SGD({w}, 0.1), w);
  w = infinite();
  steps(optim::SGD({w}, {.lr = 0.1, .momentum = 0.9}), w);
  w = infinite();
  steps(optim::Adam({w}, 0.1), w);
  w = infinite();
  steps(optim::AdamW({w}, {.lr = 0.1, .weight_decay = 0}), w);
  w = infinite();
  steps(optim::RMSprop({w}, 0.1), w);
  w = infinite();
  steps(optim::Adagrad({w}, 0.1), w);
  w = infinite();
  steps(optim::Lion({w}, 0.1), w);
}

TEST_CASE("an option out of its range that is loaded is an error that names its group") {
  optim::SGD optimizer({zeros({1}).requires_grad_()}, {.lr = 0.1});
  nn::StateDict state = optimizer.state_dict();
  state.insert_or_assign("group.0.weight_decay", tensor(-1.0, float64));
  state.insert_or_assign("group.0.lr", tensor(0.5, float64));
  CHECK_THROWS_WITH(optimizer.load_state_dict(state),
                    "[load_state_dict] group.0: [SGD] weight_decay is -1, not a number from 0 on");
  CHECK(optimizer.lr(0) == 0.1);
}
