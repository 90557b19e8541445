// Classifies images of ten kinds of clothes. An image is cut into patches, which attend to each
// other. Reads the unpacked files of Fashion-MNIST. Debian's package is dataset-fashion-mnist:
//
//     mkdir clothes && cp /usr/share/datasets/fashion-mnist/*.gz clothes && gunzip clothes/*.gz
//     fashion --data clothes

#include <filesystem>
#include <iostream>
#include <string>

#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Tensor;

struct Options {
  std::string folder, json_path;
  std::uint64_t seed = 0;
  std::int64_t steps = 1500, batch = 64;
};

constexpr std::int64_t kSide = 28, kPatch = 7, kPatches = (kSide / kPatch) * (kSide / kPatch),
                       kWidth = 64, kKinds = 10;

/// The images, cut into patches (count, kPatches, kPatch^2), and their kinds.
tend::data::TensorDataset<2> read(const std::filesystem::path& folder, const std::string& name) {
  const Tensor images =
      tend::data::load_idx(folder / (name + "-images-idx3-ubyte"), tend::float32) / 255;
  const Tensor kinds = tend::data::load_idx(folder / (name + "-labels-idx1-ubyte"));
  constexpr std::int64_t kAcross = kSide / kPatch;
  const Tensor patches = images.view({-1, kAcross, kPatch, kAcross, kPatch}).transpose(2, 3);
  return tend::data::TensorDataset(patches.reshape({-1, kPatches, kPatch * kPatch}), kinds);
}

class Classifier : public tend::nn::Module<Classifier> {
 public:
  Classifier()
      : embed(kPatch * kPatch, kWidth),
        places(kPatches, kWidth),
        encoder(
            tend::nn::TransformerEncoderLayer(
                kWidth, 4,
                {.dim_feedforward = 128, .dropout = 0.1, .batch_first = true, .norm_first = true}),
            2),
        head(kWidth, kKinds) {}
  Tensor forward(const Tensor& patches) const {
    const Tensor x = embed(patches) + places(tend::arange(kPatches));
    return head(encoder(x).mean(1));
  }

  TEND_MODULE(tend::nn::Linear, embed);
  TEND_MODULE(tend::nn::Embedding, places);
  TEND_MODULE(tend::nn::TransformerEncoder, encoder);
  TEND_MODULE(tend::nn::Linear, head);
};

double share_right(Classifier& model, const tend::data::TensorDataset<2>& data) {
  model.eval();
  const tend::NoGradGuard no_grad;
  double right = 0;
  tend::data::DataLoader loader(data, {.batch_size = 500});
  for (auto& [x, y] : loader) right += (model(x).argmax(-1) == y).sum().item();
  model.train();
  return right / static_cast<double>(data.size());
}

int run(const Options& o) {
  program::check_can_write(o.json_path);
  const auto training = read(o.folder, "train"), testing = read(o.folder, "t10k");
  tend::manual_seed(o.seed);
  Classifier model;
  tend::optim::AdamW optimizer(tend::optim::decay_groups(model, 0.05), {.lr = 0.002});
  tend::optim::OneCycleLR schedule(optimizer, {.max_lr = 0.002, .total_steps = o.steps});
  tend::data::DataLoader loader(training, {.batch_size = o.batch, .shuffle = true});
  tend::data::Endless batches(loader);
  const auto loss = [&] {
    auto& [x, y] = batches.next();
    return tend::cross_entropy(model(x), y);
  };
  double last_loss = 0, seconds = 0;
  tend::nn::Trainer trainer(model, optimizer, loss,
                            {.steps = o.steps,
                             .clip_norm = 1,
                             .schedule = &schedule,
                             .after_step = [&](const tend::nn::TrainedStep& done) {
                               last_loss = done.loss;
                               seconds = done.seconds;
                             }});
  trainer.run();
  const double right = share_right(model, testing);
  std::cout << 100 * right << " % of " << testing.size() << " new images right, loss " << last_loss
            << ", " << seconds << " s\n";
  const nlohmann::ordered_json results{{"seed", o.seed},
                                       {"steps", o.steps},
                                       {"share_right", right},
                                       {"loss", last_loss},
                                       {"seconds", seconds}};
  program::write_results(o.json_path, [&] { return results.dump(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("fashion", "Classifies the clothes of Fashion-MNIST");
  Options options;
  line.add_file("--data", options.folder, "Folder with the four files, unpacked by gunzip")
      .required();
  line.add_json(options.json_path);
  line.add_whole("--seed", options.seed, "Seed of weights and batches (0)");
  line.add_threads();
  line.add_whole("--steps", options.steps, "Training steps (1500)", 1, 1'000'000);
  line.add_whole("--batch", options.batch, "Images per step (64)", 1, 10'000);
  return line.run(argc, argv, [&] { return run(options); });
}
