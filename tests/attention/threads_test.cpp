#include <tend/attention/models/gpt.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <tend/autograd/ops/ops.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/optim/adam.h>

#include "tests/catch.h"
#include "tests/threads.h"

using namespace tend;

namespace {

// Runs a few training steps with dropout. Returns the losses, and all parameters at the end.
std::vector<std::vector<float>> train() {
  manual_seed(5);
  attention::GPT model({.vocab_size = 65,
                        .context_length = 48,
                        .width = 96,
                        .num_heads = 3,
                        .num_layers = 2,
                        .dropout = 0.1});
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  const Tensor tokens = randint(0, 65, {6, 48}), next = randint(0, 65, {6 * 48});
  std::vector<std::vector<float>> results;
  for (int step = 0; step < 3; ++step) {
    const Tensor loss = cross_entropy(model(tokens).flatten(0, 1), next);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    results.push_back(loss.to_vector<float>());
  }
  for (const Tensor& parameter : model.parameters())
    results.push_back(parameter.to_vector<float>());
  return results;
}

}  // namespace

TEST_CASE("Threads call one model and call backward on its results") {
  manual_seed(5);
  attention::GPT model(
      {.vocab_size = 9, .context_length = 8, .width = 12, .num_heads = 2, .num_layers = 1});
  const Tensor tokens = randint(0, 9, {2, 8});
  constexpr int kCalls = 4;
  const auto gradients = [&] {
    std::vector<Tensor> all;
    for (const Tensor& parameter : model.parameters()) all.push_back(parameter.grad().clone());
    model.zero_grad();
    return all;
  };
  for (int i = 0; i < kCalls; ++i) model(tokens).sum().backward();
  const std::vector<Tensor> expected = gradients();
  test::together(kCalls, [&](int) { model(tokens).sum().backward(); });
  const std::vector<Tensor> found = gradients();
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(allclose(found[i], expected[i], 1e-4, 1e-5));  // the order of the sums is not fixed
}

TEST_CASE("Training has the same bits with 1 to 64 threads") {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<std::vector<float>> alone = train();
  CHECK(alone[0][0] != alone[2][0]);
  for (const int threads : {2, 3, 4, 8, 16, 64}) {
    CAPTURE(threads);
    set_num_threads(threads);
    CHECK((train() == alone));
  }
  set_num_threads(before);
}

TEST_CASE("Training has the same bits while another thread changes the number of threads") {
  const int before = num_threads();
  const std::vector<std::vector<float>> alone = train();
  std::atomic<bool> done = false;
  int changes = 0;
  std::thread other([&] {
    for (; !done; ++changes) set_num_threads(1 + changes % 8);
  });
  for (int i = 0; i < 3; ++i) CHECK((train() == alone));
  done = true;
  other.join();
  CHECK(changes > 10);
  set_num_threads(before);
}
