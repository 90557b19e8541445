// Muon steps matrices by the formulas in make_optimizers.py.
#include "tests/nn/optim/torch_runs.h"

#include <cmath>
#include <utility>

#include "tests/arrays.h"

using namespace tend;

namespace {

optim::MuonOptions options_of_muon(const nlohmann::json& o) {
  return {.lr = o["lr"],
          .weight_decay = o.value("weight_decay", 0.0),
          .momentum = o["momentum"],
          .nesterov = o.value("nesterov", true),
          .eps = o.value("eps", 1e-7),
          .ns_steps = o.value("ns_steps", 5),
          .adjust_lr_fn = o.value("adjust_lr_fn", "original") == "original"
                              ? optim::MuonAdjust::original
                              : optim::MuonAdjust::match_rms_adamw};
}

}  // namespace

TEST_CASE("Muon steps the matrices of a model as its formulas do", "[products]") {
  int runs = 0;
  for (const auto& run : test::torch_optimizers()["runs"]) {
    if (run["optimizer"] != "Muon") continue;
    INFO(run["options"].dump());
    ++runs;
    const std::vector<Tensor> p = test::start_model();
    optim::Muon muon({p[0], p[3]}, options_of_muon(run["options"]));
    optim::SGD sgd({p[1], p[2]}, 0.01);
    std::size_t next = 0;
    for (int step = 1; step <= 100; ++step) {
      for (Tensor each : p) each.zero_grad();
      test::go_backward(p, false);
      muon.step();
      sgd.step();
      if (step != test::torch_optimizers()["steps"][next].get<int>()) continue;
      INFO("step " << step);
      // A change in the last bits of x changes PyTorch's numbers by 1e-15 in 100 steps.
      CHECK(test::distance(test::kept_of(p, next), run["values"][next]) <= 1e-13);
      ++next;
    }
  }
  CHECK(runs == 25);
}

TEST_CASE("Muon's step is an orthogonal matrix times the rate for any layout and dtype",
          "[products]") {
  for (const DType dtype : {float32, float64}) {
    manual_seed(3);
    Tensor p = zeros({6, 3}, dtype).t().requires_grad_();
    p.set_grad(randn({3, 6}, dtype));
    optim::Muon({p}, {.lr = 0.5, .ns_steps = 10}).step();
    const Tensor q = p.detach() / 0.5;
    // The iteration leaves singular values between 0.7 and 1.2, so squares between 0.49 and 1.44.
    const Tensor product = matmul(q, q.t()) - eye(3, {.dtype = dtype});
    CHECK(norm(product).item<double>() < 0.6 * std::sqrt(3));
  }
}

TEST_CASE("Muon continues from its state with the same bits for any number of threads",
          "[products]") {
  // Large enough to be divided among threads.
  const auto trained = [](bool saves) {
    Generator generator(5);
    Tensor p = (rand({400, 600}, float32, generator) - 0.5).requires_grad_();
    optim::Muon optimizer({p}, {.lr = 0.1});
    for (int i = 0; i < 3; ++i) {
      if (saves) {
        optim::Muon next({p}, 0.7);
        next.load_state_dict(optimizer.state_dict());
        optimizer = std::move(next);
      }
      p.set_grad(rand({400, 600}, float32, generator) - 0.5);
      optimizer.step();
    }
    return p.array();
  };
  CHECK(test::same_bits(trained(true), trained(false)));
  CHECK(test::same_bits_for_any_thread_count([&] { return trained(false); }));
}

TEST_CASE("Muon refuses parameters that are not matrices and options out of range", "[products]") {
  Tensor p = ones({2, 3}).requires_grad_(), q = ones({2, 3}).requires_grad_();
  const Tensor bias = ones({3}).requires_grad_();
  CHECK_THROWS_WITH(optim::Muon({p, bias}), "[Muon] parameters must be matrices, got shape (3,)");
  CHECK_THROWS_WITH(optim::Muon({p}, {.ns_steps = 100}),
                    "[Muon] ns_steps must be from 1 to 99, got 100");
  CHECK_THROWS_AS(optim::Muon({p}, {.momentum = -1}), Error);
  optim::Muon optimizer({p, q}, {.lr = 1});
  p.set_grad(ones({2, 3}));
  q.set_data(ones({6}));
  q.set_grad(ones({6}));
  CHECK_THROWS_AS(optimizer.step(), ShapeError);
  CHECK(equal(p.detach(), ones({2, 3})));
  CHECK(!optimizer.state_dict().contains("0.step"));
}
