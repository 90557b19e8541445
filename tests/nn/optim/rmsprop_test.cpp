#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/optim/torch_runs.h"

using namespace tend;

TEST_CASE("RMSprop steps a model as PyTorch does, with momentum, centered, maximize and decay",
          "[products]") {
  const auto options = [](const nlohmann::json& o) {
    return optim::RMSpropOptions{.lr = o["lr"],
                                 .alpha = o["alpha"],
                                 .eps = o["eps"],
                                 .weight_decay = o["weight_decay"],
                                 .momentum = o["momentum"],
                                 .centered = o["centered"].get<bool>(),
                                 .maximize = o["maximize"].get<bool>()};
  };
  CHECK(test::check_runs<optim::RMSprop>("RMSprop", options) == 40);
}

TEST_CASE("RMSprop refuses settings out of range") {
  const Tensor p = ones({2}, {.requires_grad = true});
  CHECK_THROWS_WITH(optim::RMSprop({p}, {.alpha = -0.5}),
                    "[RMSprop] alpha is -0.5, not a number from 0 on");
  CHECK_THROWS_WITH(optim::RMSprop({p}, -1.0), "[RMSprop] lr is -1, not a number from 0 on");
}
