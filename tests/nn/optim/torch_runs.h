// Runs of torch.optim on a small model, and the same runs here.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"

#include <nlohmann/json.hpp>

namespace tend::test {

// tests/data/optimizers.json: torch.optim on a small model (tests/data/make_optimizers.py).
inline const nlohmann::json& torch_optimizers() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/optimizers.json"));
  return data;
}

inline Tensor stored(const nlohmann::json& values, const Shape& shape) {
  return Tensor(Array::from<double>(values.get<std::vector<double>>(), shape));
}

// w1, gain, bias and w2 of make_optimizers.py, each with its gradient cleared.
inline std::vector<Tensor> start_model() {
  const auto& start = torch_optimizers()["start"];
  std::vector<Tensor> p = {stored(start["w1"], {5, 4}), stored(start["gain"], {5}),
                           stored(start["bias"], {5}), stored(start["w2"], {2, 5})};
  for (Tensor& each : p) each.requires_grad_();
  return p;
}

inline void go_backward(const std::vector<Tensor>& p, bool maximize) {
  const Tensor x = stored(torch_optimizers()["x"], {12, 4});
  const Tensor y = stored(torch_optimizers()["y"], {12, 2});
  const Tensor hidden = layer_norm(tanh(matmul(x, p[0].t())), {5}, p[1], p[2]);
  const Tensor error = matmul(hidden, p[3].t()) - y;
  const Tensor loss = (error * error).mean();
  (maximize ? -loss : loss).backward();
}

// The elements of all parameters, joined.
inline Tensor all_of(const std::vector<Tensor>& p) {
  std::vector<Tensor> flat;
  for (const Tensor& each : p) flat.push_back(each.detach().flatten());
  return cat(flat, 0);
}

// The numbers that the file stores: all parameters after the first stored step, and a row of w1 and
// the bias after the later ones.
inline Tensor kept_of(const std::vector<Tensor>& p, std::size_t index) {
  return index == 0 ? all_of(p) : cat({p[0].detach().select(0, 0), p[2].detach()}, 0);
}

inline double distance(const Tensor& got, const nlohmann::json& values) {
  return (got - stored(values, got.shape())).abs().max().item<double>();
}

// Checks each run of the optimizer O in the file, and returns the number of runs. The tolerances:
// a change in the last bits of x changes PyTorch's own numbers by 2e-16 in ten steps, and by up to
// 3e-10 in a hundred (with betas (0.5, 0.8), without amsgrad).
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
      go_backward(p, run["options"].value("maximize", false));
      optimizer.step();
      if (step != torch_optimizers()["steps"][next].get<int>()) continue;
      INFO("step " << step);
      CHECK(distance(kept_of(p, next), run["values"][next]) <= (step <= 10 ? 1e-14 : 1e-9));
      ++next;
    }
  }
  return runs;
}

}  // namespace tend::test
