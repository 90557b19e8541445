// Continues the training of a model whose weights torch.save wrote.
//
//     torch.save({"model": model.state_dict()}, "model.pt")   # nn.Sequential(Linear, Tanh, Linear)

#include <iostream>
#include <stdexcept>
#include <string>

#include <tend/nn/archives/pt.h>
#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Tensor;

struct Options {
  std::string weights, save, json_path;
  std::uint64_t seed = 0;
  std::int64_t steps = 200;
};

/// The state_dict under the key "model".
tend::nn::StateDict weights_in(const std::string& path) {
  const tend::nn::PtFile file = tend::nn::load_pt(path);
  try {
    return file.at("model").state_dict();
  } catch (const tend::Error& error) {
    throw std::runtime_error(path + " has no weights under 'model': " + error.what());
  }
}

int run(const Options& o) {
  program::check_can_write(o.json_path);
  program::check_can_write(o.save);
  tend::manual_seed(o.seed);
  const tend::nn::StateDict weights = weights_in(o.weights);
  const auto sizes = weights.at("0.weight").sizes<2>();
  tend::nn::Sequential model{tend::nn::Linear(sizes[1], sizes[0]), tend::nn::Tanh(),
                             tend::nn::Linear(sizes[0], 1)};
  model.load_state_dict(weights);

  // The model learns the sum of the squares of its inputs.
  const Tensor x = tend::randn({256, sizes[1]}), y = x.pow(2).sum(-1, true);
  tend::optim::Adam optimizer(model.parameters(), {.lr = 0.01});
  const auto loss = [&] { return tend::mse_loss(model(x), y); };
  const double first = loss().item();
  tend::nn::Trainer trainer(model, optimizer, loss, {.steps = o.steps});
  trainer.run();
  const double last = loss().item();
  std::cout << "loss " << first << " with the file's weights, " << last << " after " << o.steps
            << " steps\n";
  if (!o.save.empty()) tend::nn::save_pt(o.save, tend::nn::PtDict{{"model", model.state_dict()}});
  const nlohmann::ordered_json results{{"first_loss", first}, {"last_loss", last}};
  program::write_results(o.json_path, [&] { return results.dump(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("load_pt",
                            "Continues the training of a model whose weights torch.save wrote");
  Options options;
  line.add_file("--weights", options.weights, "The .pt file").required();
  line.add_file("--save", options.save, "Write the trained weights to this .pt file");
  line.add_json(options.json_path);
  line.add_whole("--seed", options.seed, "Seed of the data (0)");
  line.add_threads();
  line.add_whole("--steps", options.steps, "Training steps (200)", 1, 1'000'000);
  return line.run(argc, argv, [&] { return run(options); });
}
