// Learns to separate two half moons of points, and draws the result in the terminal.

#include <iostream>
#include <numbers>
#include <string>
#include <utility>

#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Slice;
using tend::Tensor;

struct Options {
  std::string json_path;
  std::uint64_t seed = 0;
  std::int64_t points = 1000, steps = 400;
};

/// Noisy points (count, 2) on two half circles that reach into each other, and for each point the
/// number of its half circle.
std::pair<Tensor, Tensor> moons(std::int64_t count) {
  const Tensor moon = tend::arange(count) % 2;
  const Tensor angle = tend::rand({count}) * std::numbers::pi, lower = moon.to(tend::float32);
  const Tensor x = (1 - 2 * lower) * angle.cos() + lower;
  const Tensor y = (1 - 2 * lower) * angle.sin() + 0.5 * lower;
  return {tend::stack({x, y}, 1) + 0.1 * tend::randn({count, 2}), moon};
}

double share_right(const tend::nn::Sequential& model, const Tensor& points, const Tensor& moon) {
  const tend::NoGradGuard no_grad;
  return (model(points).argmax(-1) == moon).to(tend::float32).mean().item();
}

/// The model's answer for each point of a grid, as lines of text.
std::string picture(const tend::nn::Sequential& model) {
  constexpr std::int64_t kRows = 18, kColumns = 60;
  const Tensor y = tend::linspace(1.5, -1, kRows).unsqueeze(1).expand({kRows, kColumns});
  const Tensor x = tend::linspace(-1.5, 2.5, kColumns).expand({kRows, kColumns});
  const tend::NoGradGuard no_grad;
  const Tensor moon = model(tend::stack({x, y}, -1)).argmax(-1);
  std::string text;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (const std::int64_t each : moon[{row}].to_vector<std::int64_t>())
      text += each == 0 ? '.' : '#';
    text += '\n';
  }
  return text;
}

int run(const Options& o) {
  program::check_can_write(o.json_path);
  tend::manual_seed(o.seed);
  const auto [points, moon] = moons(o.points);
  const auto [new_points, new_moon] = moons(1000);
  tend::nn::Sequential model{tend::nn::Linear(2, 32), tend::nn::ReLU(), tend::nn::Linear(32, 32),
                             tend::nn::ReLU(), tend::nn::Linear(32, 2)};
  tend::optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
  tend::data::DataLoader loader(tend::data::TensorDataset(points, moon),
                                {.batch_size = 64, .shuffle = true});
  tend::data::Endless batches(loader);
  double last_loss = 0;
  tend::nn::Trainer trainer(
      model, optimizer,
      [&] {
        auto& [x, y] = batches.next();
        return tend::cross_entropy(model(x), y);
      },
      {.steps = o.steps,
       .after_step = [&](const tend::nn::TrainedStep& done) { last_loss = done.loss; }});
  trainer.run();
  const double right = share_right(model, new_points, new_moon);
  std::cout << picture(model) << 100 * right << " % of 1000 new points right, loss " << last_loss
            << '\n';
  const nlohmann::ordered_json results{
      {"seed", o.seed}, {"steps", o.steps}, {"share_right", right}, {"loss", last_loss}};
  program::write_results(o.json_path, [&] { return results.dump(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("two_moons", "Learns to separate two half moons of points");
  Options options;
  line.add_json(options.json_path);
  line.add_whole("--seed", options.seed, "Seed of points, weights and batches (0)");
  line.add_threads();
  line.add_whole("--points", options.points, "Points to learn from (1000)", 2, 1'000'000);
  line.add_whole("--steps", options.steps, "Training steps (400)", 1, 1'000'000);
  return line.run(argc, argv, [&] { return run(options); });
}
