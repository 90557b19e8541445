#include <cmath>

#include "tests/nn/fixtures.h"

using namespace tend;

TEST_CASE(
    "100 AdamW steps of MultiHeadAttention follow PyTorch's losses, from the seed alone, dropout "
    "included") {
  const nlohmann::json& expected = torch_nn()["training"];
  manual_seed(123);
  const attention::MultiHeadAttention mha(8, 12, 10, 0.2, 3);
  const Tensor x = rand({4, 9, 8});
  const Tensor target = rand({4, 9, 12});
  optim::AdamW optimizer(mha.parameters(), {.lr = 0.01});
  for (std::size_t step = 0; step < 100; ++step) {
    const Tensor loss = mse_loss(mha(x), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const double torch_loss = expected["losses"][step].get<double>();
    INFO("step " << step << ": " << loss.item() << ", PyTorch " << torch_loss);
    // Float32 noise of two different orders of summation, grown by training.
    CHECK(std::abs(loss.item() - torch_loss) < 1e-4 * torch_loss);
  }
  for (const auto& [name, weight] : mha.state_dict()) {
    INFO(name);
    check_close(weight, expected["weights"][name], 1e-3);
  }
}
