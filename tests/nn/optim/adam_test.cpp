#include <tend/tend.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/nn/optim/torch_runs.h"

#include <nlohmann/json.hpp>

using namespace tend;

namespace {

template <class O>
typename O::Options adam_options(const nlohmann::json& o) {
  return {.lr = o["lr"],
          .betas = {o["betas"][0], o["betas"][1]},
          .eps = o["eps"],
          .weight_decay = o["weight_decay"],
          .amsgrad = o["amsgrad"].get<bool>(),
          .maximize = o["maximize"].get<bool>()};
}

}  // namespace

TEST_CASE("Adam and AdamW step a model as PyTorch's, with amsgrad, maximize and decay",
          "[products]") {
  CHECK(test::check_runs<optim::Adam>("Adam", adam_options<optim::Adam>) == 20);
  CHECK(test::check_runs<optim::AdamW>("AdamW", adam_options<optim::AdamW>) == 20);
}

TEST_CASE("SGD steps a model as PyTorch's, with dampening, Nesterov's momentum and maximize",
          "[products]") {
  const auto options = [](const nlohmann::json& o) {
    return optim::SGDOptions{.lr = o["lr"],
                             .momentum = o["momentum"],
                             .dampening = o.value("dampening", 0.0),
                             .weight_decay = o["weight_decay"],
                             .nesterov = o.value("nesterov", false),
                             .maximize = o["maximize"].get<bool>()};
  };
  CHECK(test::check_runs<optim::SGD>("SGD", options) == 20);
}

TEST_CASE("Adam with amsgrad goes on from a state_dict with the same bits", "[products]") {
  const optim::AdamOptions options{.lr = 0.02, .amsgrad = true};
  const std::vector<Tensor> p = test::start_model();
  const auto run = [](optim::Adam& optimizer, const std::vector<Tensor>& parameters) {
    for (int i = 0; i < 10; ++i) {
      optimizer.zero_grad();
      test::go_backward(parameters, false);
      optimizer.step();
    }
  };
  optim::Adam whole(p, options);
  run(whole, p);
  std::vector<Tensor> others;
  for (const Tensor& each : p) others.push_back(each.detach().clone().requires_grad_());
  optim::Adam resumed(others, options);
  resumed.load_state_dict(whole.state_dict());
  run(whole, p);
  run(resumed, others);
  for (std::size_t i = 0; i < p.size(); ++i)
    CHECK(test::same_bits(p[i].detach().array(), others[i].detach().array()));
}

TEST_CASE("Adam refuses settings out of range by its own name") {
  const Tensor p = ones({2}, {.requires_grad = true});
  CHECK_THROWS_WITH(optim::Adam({p}, {.betas = {1.0, 0.9}}),
                    "[Adam] betas (1, 0.9) must lie in [0, 1)");
  CHECK_THROWS_WITH(optim::Adam({p}, -1.0), "[Adam] lr is -1, not a number from 0 on");
}

TEST_CASE("running means go from the nearer end, as torch.lerp does") {
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
  // PyTorch's numbers, which a fused operation may have rounded otherwise.
  CHECK_THAT(
      state.at("0.grad_avg").to(float64).to_vector<double>(),
      Catch::Matchers::Approx(std::vector<double>{21000002, 1.4630000591278076}).epsilon(2e-7));
}
