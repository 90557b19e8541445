// LBFGS makes the same steps as torch.optim.LBFGS.
#include "tests/nn/optim/torch_runs.h"

#include <limits>
#include <string>
#include <utility>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using optim::LineSearch;

namespace {

optim::LBFGSOptions options_of(const nlohmann::json& o) {
  optim::LBFGSOptions options{.lr = o.value("lr", 1.0),
                              .max_iter = o.value("max_iter", 20),
                              .tolerance_grad = o.value("tolerance_grad", 1e-7),
                              .tolerance_change = o.value("tolerance_change", 1e-9),
                              .history_size = o.value("history_size", 100)};
  if (o.contains("max_eval")) options.max_eval = o["max_eval"].get<std::int64_t>();
  if (o.contains("line_search_fn")) options.line_search_fn = LineSearch::strong_wolfe;
  return options;
}

Tensor network_loss(const std::vector<Tensor>& p) {
  const Tensor x = test::stored(test::torch_optimizers()["x"], {12, 4});
  const Tensor y = test::stored(test::torch_optimizers()["y"], {12, 2});
  const Tensor hidden = layer_norm(tanh(matmul(x, p[0].t())), {5}, p[1], p[2]);
  return square(matmul(hidden, p[3].t()) - y).mean();
}

Tensor rosenbrock_loss(const std::vector<Tensor>& p) {
  const Tensor a = p[0][0], b = p[0][1];
  return square(1 - a) + 100 * square(b - a * a);
}

std::vector<Tensor> valley(DType dtype = float64) {
  return {tensor({-1.2, 1.0}, dtype).requires_grad_()};
}

template <class Loss>
Tensor step(optim::LBFGS& optimizer, const std::vector<Tensor>& p, Loss loss_of) {
  return optimizer.step([&] {
    optimizer.zero_grad();
    Tensor loss = loss_of(p);
    loss.backward();
    return loss;
  });
}

// The tolerance is 1e-7: a change in the last bits of x changes PyTorch's own numbers by up to 2e-8
// (in step 16 of the run with a line search and max_iter 4).
template <class Loss>
void check_run(const nlohmann::json& run, const std::vector<Tensor>& p, Loss loss_of) {
  INFO(run["options"].dump());
  optim::LBFGS optimizer(p, options_of(run["options"]));
  for (std::size_t i = 0; i < run["losses"].size(); ++i) {
    INFO("step " << i);
    const double loss = step(optimizer, p, loss_of).template item<double>();
    CHECK(loss == Approx(run["losses"][i].get<double>()).epsilon(1e-7).margin(1e-10));
    CHECK(optimizer.state_dict().at("func_evals").item<std::int64_t>() == run["func_evals"][i]);
    const auto values = run["values"].find(std::to_string(i));
    if (values != run["values"].end()) CHECK(test::distance(test::all_of(p), *values) <= 1e-7);
  }
}

}  // namespace

TEST_CASE("LBFGS steps a model as PyTorch does, with and without a line search", "[products]") {
  const auto& runs = test::torch_optimizers()["lbfgs"];
  REQUIRE(runs.size() == 8);
  for (const auto& run : runs) check_run(run, test::start_model(), network_loss);
}

TEST_CASE("LBFGS searches along a line as PyTorch does from first steps of any length") {
  const auto& runs = test::torch_optimizers()["rosenbrock"];
  REQUIRE(runs.size() == 3);
  for (const auto& run : runs) check_run(run, valley(), rosenbrock_loss);
}

TEST_CASE("LBFGS searches lines whose slopes mislead as PyTorch does") {
  const auto loss_of = [](const std::string& function) {
    return [function](const std::vector<Tensor>& p) {
      const Tensor& x = p[0];
      if (function == "bay") return (-x / (x * x + 2)).sum();
      return (x * x / 10 - sin(6 * x)).sum();  // "waves"
    };
  };
  const auto& runs = test::torch_optimizers()["lines"];
  REQUIRE(runs.size() == 24);
  for (const auto& run : runs) {
    const double from = run["from"];
    INFO(run["function"] << " from " << from);
    check_run(run, {tensor({from}, float64).requires_grad_()}, loss_of(run["function"]));
  }
}

TEST_CASE("LBFGS also finds the minimum in float32") {
  const std::vector<Tensor> p = valley(float32);
  optim::LBFGS optimizer(p, {.line_search_fn = LineSearch::strong_wolfe});
  for (int i = 0; i < 5; ++i) step(optimizer, p, rosenbrock_loss);
  CHECK(allclose(p[0].detach(), ones({2}), 1e-3, 1e-3));
}

TEST_CASE("LBFGS continues from its state with the same bits") {
  const optim::LBFGSOptions options{.max_iter = 3, .line_search_fn = LineSearch::strong_wolfe};
  const std::vector<Tensor> whole = valley();
  optim::LBFGS one(whole, options);
  for (int i = 0; i < 6; ++i) step(one, whole, rosenbrock_loss);

  const std::vector<Tensor> half = valley();
  optim::LBFGS first(half, options);
  for (int i = 0; i < 3; ++i) step(first, half, rosenbrock_loss);
  optim::LBFGS second(half, {.max_iter = 9, .max_eval = 4});
  second.load_state_dict(first.state_dict());
  CHECK(second.groups()[0].options.max_iter == 3);
  CHECK(!second.groups()[0].options.max_eval);
  for (int i = 0; i < 3; ++i) step(second, half, rosenbrock_loss);
  CHECK(equal(half[0].detach(), whole[0].detach()));

  optim::LBFGS third(half, {.max_eval = 7});
  second.load_state_dict(third.state_dict());
  CHECK(second.groups()[0].options.max_eval == 7);
}

TEST_CASE("LBFGS skips a parameter without a gradient and ends if its steps are short") {
  const std::vector<Tensor> both{valley()[0], ones({2}, float64).requires_grad_()};
  optim::LBFGS optimizer(both, {.max_iter = 9, .tolerance_change = 1});
  int calls = 0;
  optimizer.step([&] {
    ++calls;
    optimizer.zero_grad();
    Tensor loss = rosenbrock_loss(both);  // only the first parameter gets a gradient
    loss.backward();
    return loss;
  });
  CHECK(equal(both[1].detach(), ones({2}, float64)));
  CHECK(both[0][0].item<double>() != -1.2);
  CHECK(calls == 2);  // the first step is shorter than the tolerance
}

TEST_CASE("LBFGS refuses invalid parameters and options before anything has changed") {
  const std::vector<Tensor> p = valley();
  const Tensor other = ones({2}).requires_grad_();
  const auto refuses = [&](optim::LBFGS optimizer, const std::string& message) {
    CHECK_THROWS_WITH(step(optimizer, p, rosenbrock_loss), ContainsSubstring(message));
    CHECK(p[0][0].item<double>() == -1.2);
  };
  CHECK_THROWS_WITH(optim::LBFGS(p).step(),
                    "[LBFGS.step] needs a closure that computes the loss and its gradients");
  optim::LBFGS groups(p);
  groups.add_group({other}, {});
  refuses(std::move(groups), "there must be one group, not 2");
  refuses(optim::LBFGS({p[0], other}), "parameters must have one dtype, not float64 and float32");
  refuses(optim::LBFGS({ones({0}).requires_grad_()}), "the parameters have no elements");
  optim::LBFGS two(p);
  CHECK_THROWS_WITH(two.step([&] { return p[0] * 1; }),
                    "[LBFGS.step] the closure must return a loss of one element");
  CHECK_THROWS_AS(two.step([] { return Tensor(); }), Error);
  CHECK_THROWS_WITH(optim::LBFGS(p, {.max_iter = 0}), "[LBFGS] max_iter must be at least 1, got 0");
  CHECK_THROWS_AS(optim::LBFGS(p, {.history_size = -1}), Error);
  CHECK_THROWS_AS(optim::LBFGS(p, {.max_eval = 0}), Error);
  CHECK_THROWS_AS(optim::LBFGS(p, -1.0), Error);
  CHECK_THROWS_AS(optim::LBFGS(p).set_momentum(0, 0.5), Error);
}

TEST_CASE("LBFGS refuses a state and parameters that do not fit its history") {
  std::vector<Tensor> p = valley();
  optim::LBFGS optimizer(p, {.max_iter = 4});
  step(optimizer, p, rosenbrock_loss);
  const nn::StateDict state = optimizer.state_dict();
  const auto refuses = [&](const std::string& message, const auto& change) {
    nn::StateDict wrong = state;
    wrong["func_evals"] = tensor(77);
    change(wrong);
    CHECK_THROWS_WITH(optimizer.load_state_dict(wrong), ContainsSubstring(message));
    CHECK(optimizer.state_dict().at("func_evals").item<std::int64_t>() < 77);
  };
  refuses("d is missing", [](auto& s) { s.erase("d"); });
  refuses("old_stps is missing", [](auto& s) { s.erase("old_stps"); });
  refuses("d is (3,) float64, not (2,) float64", [](auto& s) { s["d"] = ones({3}, float64); });
  refuses("old_dirs is (1, 2) float64",
          [](auto& s) { s["old_dirs"] = s["old_dirs"].slice(0, 0, 1); });
  refuses("n_iter is -1, not a count", [](auto& s) { s["n_iter"] = tensor(-1); });
  refuses("n_iter is 9007199254740993, not a count",
          [](auto& s) { s["n_iter"] = tensor((std::int64_t{1} << 53) + 1); });
  refuses("d is (2,) float32, not (2,) float64", [](auto& s) { s["d"] = ones({2}); });
  refuses("ro is undefined", [](auto& s) { s["ro"] = Tensor(); });
  refuses("is unknown", [](auto& s) { s["n_iter"] = tensor(0); });
  refuses("0.step is unknown", [](auto& s) { s["0.step"] = tensor(1); });
  refuses("group.0.max_eval is (2,) int64",
          [](auto& s) { s["group.0.max_eval"] = zeros({2}, int64); });
  p[0].zero_grad();
  p[0].set_data(ones({3}, float64));
  CHECK_THROWS_WITH(step(optimizer, p, rosenbrock_loss),
                    ContainsSubstring("must still have 2 elements of float64"));
}

TEST_CASE("a loss that is not finite ends the line search") {
  const std::vector<Tensor> p = valley();
  optim::LBFGS optimizer(p, {.line_search_fn = LineSearch::strong_wolfe});
  const auto nowhere = [](const std::vector<Tensor>& parameters) {
    return rosenbrock_loss(parameters) * std::numeric_limits<double>::quiet_NaN();
  };
  CHECK_NOTHROW(step(optimizer, p, nowhere));
  CHECK(optimizer.state_dict().at("func_evals").item<std::int64_t>() < 200);
}

TEST_CASE("the length of a line search does not depend on tolerance_change") {
  const std::vector<Tensor> p = valley();
  optim::LBFGS optimizer(
      p, {.max_iter = 8, .tolerance_change = 1, .line_search_fn = LineSearch::strong_wolfe});
  int evaluations = 0;
  step(optimizer, p, [&](const std::vector<Tensor>& at) {
    ++evaluations;
    return rosenbrock_loss(at);
  });
  CHECK(evaluations == 3);  // this and the numbers below are PyTorch's
  CHECK(p[0][0].item<double>() == Approx(-1.0245319303460325));
  CHECK(p[0][1].item<double>() == Approx(1.0716196202669255));
}
