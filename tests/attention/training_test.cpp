#include <cmath>

#include "tests/nn/fixtures.h"

using namespace tend;

TEST_CASE(
    "100 AdamW steps of MultiHeadAttention with dropout have PyTorch's losses from the same seed") {
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
    // tend and PyTorch add float32 numbers in different orders, and training amplifies the
    // differences: 2.5e-7 was measured for losses, and 8.3e-7 for weights. The bounds are twenty
    // times as large, because other processors round differently.
    CHECK(std::abs(loss.item() - torch_loss) < 5e-6 * torch_loss);
  }
  for (const auto& [name, weight] : mha.state_dict()) {
    INFO(name);
    check_close(weight, expected["weights"][name], 2e-5);
  }
}

TEST_CASE("training gets no memory from the system after its first steps and leaks no memory") {
  if (!tend::detail::kKeepsBlocks) return;  // with the address sanitizer, no block is reused
  // With several threads it is random which thread needs its own memory, and when.
  const int threads = num_threads();
  set_num_threads(1);
  manual_seed(1);
  const attention::GPT gpt({.vocab_size = 65,
                            .context_length = 32,
                            .width = 64,
                            .num_heads = 4,
                            .num_layers = 2,
                            .dropout = 0.1});
  optim::AdamW optimizer(gpt.parameters(), {.lr = 0.01});
  const Tensor tokens = randint(0, 65, {4, 32}), next = randint(0, 65, {4, 32});
  const auto step = [&] {
    const Tensor loss = cross_entropy(gpt(tokens).flatten(0, 1), next.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const std::int64_t blocks = system_blocks(), live = live_memory();
  for (int i = 0; i < 5; ++i) step();
  CHECK(system_blocks() == blocks);
  CHECK(live_memory() == live);
  set_num_threads(threads);
}
