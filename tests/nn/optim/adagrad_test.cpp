#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/optim/torch_runs.h"

using namespace tend;

TEST_CASE("Adagrad steps a model as PyTorch does, with decays, a first sum and maximize",
          "[products]") {
  const auto options = [](const nlohmann::json& o) {
    return optim::AdagradOptions{.lr = o["lr"],
                                 .lr_decay = o["lr_decay"],
                                 .weight_decay = o["weight_decay"],
                                 .initial_accumulator_value = o["initial_accumulator_value"],
                                 .eps = o["eps"],
                                 .maximize = o["maximize"].get<bool>()};
  };
  CHECK(test::check_runs<optim::Adagrad>("Adagrad", options) == 32);
}

TEST_CASE("Adagrad refuses settings out of range") {
  const Tensor p = ones({2}, {.requires_grad = true});
  CHECK_THROWS_WITH(optim::Adagrad({p}, {.lr_decay = -0.5}),
                    "[Adagrad] lr_decay is -0.5, not a number from 0 on");
}
