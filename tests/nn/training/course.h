// A model with its training, and comparisons of its runs.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/arrays.h"

#include <tend/tend.h>

namespace tend::test {

class Drop : public nn::Module<Drop> {
 public:
  Drop() : up(3, 8), dropout(0.2), down(8, 1) {}
  Tensor forward(const Tensor& x) const { return down(dropout(tanh(up(x)))); }
  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_MODULE(nn::Linear, down);
};

// A model, its optimizer and data, and the losses of its steps.
struct Course {
  bool is_seeded = (manual_seed(5), true);
  Drop model;
  optim::AdamW optimizer{model.parameters(), {.lr = 0.05}};
  optim::ExponentialLR schedule{optimizer, 0.97};
  data::DataLoader<data::TensorDataset<2>> loader{
      data::TensorDataset(linspace(-1, 1, 60).view({20, 3}), linspace(0, 1, 20).view({20, 1})),
      {.batch_size = 6, .shuffle = true, .num_workers = 2}};
  data::Endless<data::DataLoader<data::TensorDataset<2>>> batches{loader};
  std::vector<double> losses;

  Tensor loss() {
    auto& [x, y] = batches.next();
    return mse_loss(model(x), y);
  }
  // Trains with these options. If `after` is given, throws after this number of steps.
  std::int64_t train(nn::TrainerOptions options, std::int64_t after = -1) {
    options.schedule = &schedule;
    options.shows_progress = false;
    std::int64_t made = 0;
    options.after_step = [&](const nn::TrainedStep& done) {
      losses.push_back(done.loss);
      if (++made == after) throw after;  // like a crash between two checkpoints
    };
    nn::Trainer trainer(
        model, optimizer, [this] { return loss(); }, options);
    trainer.state.add("loader", loader);
    trainer.state.add("losses", losses);
    trainer.run();
    return trainer.steps_done();
  }
};

inline std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline bool same_weights(const nn::ModuleBase& a, const nn::ModuleBase& b) {
  const auto left = a.parameters(), right = b.parameters();
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!same_bits(left[i].array(), right[i].array())) return false;
  }
  return true;
}

}  // namespace tend::test
