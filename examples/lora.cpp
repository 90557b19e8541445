// Fine-tunes a small GPT with LoRA. The model has learnt one order of the alphabet. It learns
// another order while only an eighth of its parameters are trained.

#include <iostream>
#include <string>
#include <utility>

#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Tensor;
using tend::attention::GPT;

constexpr std::int64_t kLetters = 26, kLength = 16;

/// Sequences of letters, and for each letter the next one. Each letter is `step` letters after the
/// previous one in the alphabet.
std::pair<Tensor, Tensor> rows(std::int64_t step) {
  const Tensor first = tend::randint(0, kLetters, {16, 1});
  const Tensor all = (first + step * tend::arange(kLength + 1)) % kLetters;
  return {all.narrow(1, 0, kLength), all.narrow(1, 1, kLength)};
}

Tensor loss_of(const GPT& model, std::int64_t step) {
  const auto [x, y] = rows(step);
  return tend::cross_entropy(model(x).flatten(0, 1), y.flatten());
}

void train(GPT& model, std::int64_t step, std::int64_t steps, double rate) {
  tend::optim::AdamW optimizer(model.parameters(), {.lr = rate});
  tend::nn::Trainer(model, optimizer, [&] { return loss_of(model, step); }, {.steps = steps}).run();
}

double tested(GPT& model, std::int64_t step) {
  const tend::NoGradGuard no_grad;
  return loss_of(model, step).item();
}

int run(const std::string& json_path, std::uint64_t seed, std::int64_t steps) {
  program::check_can_write(json_path);
  tend::manual_seed(seed);
  GPT model({.vocab_size = kLetters, .context_length = kLength, .width = 32, .num_layers = 2});
  train(model, 1, steps, 0.003);
  const double learnt = tested(model, 1), before = tested(model, 3);

  tend::nn::add_lora(model, {"W_query", "W_value", "up", "down"}, {.rank = 4});
  const std::int64_t trainable = model.num_parameters(true);
  train(model, 3, steps, 0.01);
  const double after = tested(model, 3);
  tend::nn::merge_lora(model);
  const double merged = tested(model, 3);

  std::cout << "every letter: loss " << learnt << "\nevery third letter: " << before << " before, "
            << after << " after training " << trainable << " of " << model.num_parameters()
            << " numbers, " << merged << " merged\n";
  const nlohmann::ordered_json results{
      {"learnt", learnt}, {"before", before},       {"after", after},
      {"merged", merged}, {"trainable", trainable}, {"parameters", model.num_parameters()}};
  program::write_results(json_path, [&] { return results.dump(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("lora", "Fine-tunes a small GPT with LoRA");
  std::string json_path;
  std::uint64_t seed = 0;
  std::int64_t steps = 300;
  line.add_json(json_path);
  line.add_whole("--seed", seed, "Seed of weights and data (0)");
  line.add_threads();
  line.add_whole("--steps", steps, "Steps of each training (300)", 1, 1'000'000);
  return line.run(argc, argv, [&] { return run(json_path, seed, steps); });
}
