#include <fstream>
#include <string>

#include <tend/tend.h>

#include "tests/arrays.h"
#include "tests/catch.h"

#include <nlohmann/json.hpp>

using namespace tend;

namespace {

// tests/data/optimizers.json: torch.optim on a small model (tests/data/make_optimizers.py).
const nlohmann::json& torch_optimizers() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/optimizers.json"));
  return data;
}

Tensor stored(const nlohmann::json& values, const Shape& shape) {
  return Tensor(Array::from<double>(values.get<std::vector<double>>(), shape));
}

// w1, gain, bias and w2 of make_optimizers.py, each with its gradient cleared.
std::vector<Tensor> start_model() {
  const auto& start = torch_optimizers()["start"];
  std::vector<Tensor> p = {stored(start["w1"], {5, 4}), stored(start["gain"], {5}),
                           stored(start["bias"], {5}), stored(start["w2"], {2, 5})};
  for (Tensor& each : p) each.requires_grad_();
  return p;
}

void go_backward(const std::vector<Tensor>& p, bool maximize) {
  const Tensor x = stored(torch_optimizers()["x"], {12, 4});
  const Tensor y = stored(torch_optimizers()["y"], {12, 2});
  const Tensor hidden = layer_norm(tanh(matmul(x, p[0].t())), {5}, p[1], p[2]);
  const Tensor error = matmul(hidden, p[3].t()) - y;
  const Tensor loss = (error * error).mean();
  (maximize ? -loss : loss).backward();
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

// Each run of the optimizer O in the file; returns how many there are. The tolerance: when x
// changes in its last bits, PyTorch's own numbers move by 2e-16 in ten steps, and by up to 3e-10 in
// a hundred (with betas (0.5, 0.8), without amsgrad).
template <class O, class MakeOptions>
int check_runs(const std::string& name, MakeOptions make_options) {
  int runs = 0;
  for (const auto& run : torch_optimizers()["runs"]) {
    if (run["optimizer"] != name) continue;
    INFO(name << " " << run["options"].dump());
    ++runs;
    const std::vector<Tensor> p = start_model();
    O optimizer(p, make_options(run["options"]));
    std::size_t next = 0;
    for (int step = 1; next < run["values"].size(); ++step) {
      optimizer.zero_grad();
      go_backward(p, run["options"]["maximize"].get<bool>());
      optimizer.step();
      if (step != torch_optimizers()["steps"][next].get<int>()) continue;
      const Tensor got = cat({p[0].detach().select(0, 0), p[2].detach()}, 0);
      const Tensor expected = stored(run["values"][next++], {9});
      INFO("step " << step);
      CHECK((got - expected).abs().max().item<double>() <= (step <= 10 ? 1e-14 : 1e-9));
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("Adam and AdamW step a model as PyTorch's, with amsgrad, maximize and decay") {
  CHECK(check_runs<optim::Adam>("Adam", adam_options<optim::Adam>) == 16);
  CHECK(check_runs<optim::AdamW>("AdamW", adam_options<optim::AdamW>) == 16);
}

TEST_CASE("SGD steps a model as PyTorch's, with maximize") {
  const auto options = [](const nlohmann::json& o) {
    return optim::SGDOptions{.lr = o["lr"],
                             .momentum = o["momentum"],
                             .weight_decay = o["weight_decay"],
                             .maximize = o["maximize"].get<bool>()};
  };
  CHECK(check_runs<optim::SGD>("SGD", options) == 8);
}

TEST_CASE("Adam with amsgrad goes on from a state_dict with the same bits") {
  const optim::AdamOptions options{.lr = 0.02, .amsgrad = true};
  const std::vector<Tensor> p = start_model();
  const auto run = [](optim::Adam& optimizer, const std::vector<Tensor>& parameters) {
    for (int i = 0; i < 10; ++i) {
      optimizer.zero_grad();
      go_backward(parameters, false);
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
