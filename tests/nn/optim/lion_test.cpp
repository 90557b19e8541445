#include <limits>

#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/optim/torch_runs.h"

using namespace tend;

TEST_CASE("Lion steps a model as the formula of its paper, with decay", "[products]") {
  const auto options = [](const nlohmann::json& o) {
    return optim::LionOptions{
        .lr = o["lr"], .betas = {o["betas"][0], o["betas"][1]}, .weight_decay = o["weight_decay"]};
  };
  CHECK(test::check_runs<optim::Lion>("Lion", options) == 4);
}

TEST_CASE("Lion refuses settings out of range, and moves nothing along NaN") {
  const Tensor p = ones({2}, {.requires_grad = true});
  CHECK_THROWS_WITH(optim::Lion({p}, {.betas = {0.9, 1.0}}),
                    "[Lion] betas (0.9, 1) must lie in [0, 1)");
  optim::Lion optimizer({p}, 0.5);
  (p * tensor({std::numeric_limits<float>::quiet_NaN(), 2.0f})).sum().backward();
  optimizer.step();
  CHECK(p.detach()[0].item<float>() == 1.0f);
  CHECK(p.detach()[1].item<float>() == 0.5f);
}
