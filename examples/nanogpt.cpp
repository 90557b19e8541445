// Trains a small GPT on the characters of a text, and writes a sample. The settings are nanoGPT's
// for a laptop (https://github.com/karpathy/nanoGPT), with three differences: positions are rotary,
// the output layer does not share the weights of the embedding, and the initial weights are the
// defaults of the layers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tend/core/base/fnv.h>
#include <tend/nn/text/vocabulary.h>
#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Slice;
using tend::Tensor;

struct Options {
  std::string text, out, json_path;
  std::uint64_t seed = 1337;
  tend::attention::GPTConfig model{.context_length = 64,
                                   .width = 128,
                                   .num_heads = 4,
                                   .num_layers = 4,
                                   .positions = tend::attention::PositionKind::rotary,
                                   .out_bias = false,
                                   .feed_forward_bias = false,
                                   .norm_bias = false};
  std::int64_t batch = 12, warmup = 100, sample = 300;
  double rate = 1e-3, min_rate = 1e-4;
  tend::nn::TrainerOptions trainer{
      .steps = 2000, .clip_norm = 1, .evaluate_every = 250, .shows_progress = true};
};

void add_options(program::CommandLine& line, Options& o) {
  line.add_file("--text", o.text, "The text to learn. Its last tenth is for validation").required();
  line.add_json(o.json_path);
  line.add_whole("--seed", o.seed, "Seed of weights, batches and sample (1337)");
  line.add_threads();
  line.add_whole("--layers", o.model.num_layers, "Number of blocks (4)", 1, 1000);
  line.add_whole("--heads", o.model.num_heads, "Heads per block (4)", 1, 1000);
  line.add_whole("--width", o.model.width, "Width (128)", 1, 100'000);
  line.add_whole("--context", o.model.context_length, "Context length (64)", 2, 100'000);
  line.add_flag("--learned-positions", o.model.positions,
                "Learn a vector for each position, instead of rotary positions",
                tend::attention::PositionKind::learned);
  line.add_number("--dropout", o.model.dropout, "Dropout (0)", 0);
  line.add_whole("--batch", o.batch, "Sequences per micro-batch (12)", 1, 100'000);
  line.add_whole("--accumulate", o.trainer.accumulate, "Micro-batches per step (1)", 1, 100'000);
  line.add_whole("--steps", o.trainer.steps, "Training steps (2000)", 1, 1'000'000'000);
  line.add_whole("--warmup", o.warmup, "Steps in which the learning rate rises (100)", 0,
                 1'000'000'000);
  line.add_number("--rate", o.rate, "Learning rate (0.001)", 0);
  line.add_number("--min-rate", o.min_rate, "Learning rate at the end (0.0001)", 0);
  line.add_whole("--evaluate-every", o.trainer.evaluate_every, "Steps between evaluations (250)",
                 0);
  line.add_whole("--sample", o.sample, "Characters to write at the end (300)", 0, 100'000);
  line.add_text("--out", o.out,
                "Folder for checkpoints and logs, and for a --json file without a folder");
  line.add_whole("--save-every", o.trainer.save_every, "Steps between checkpoints", 0);
  line.add_flag("--resume", o.trainer.resume, "Continue from the last checkpoint in --out");
}

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw std::runtime_error(path + " is a folder");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty()) throw std::runtime_error(path + " cannot be read, or is empty");
  return text;
}

Tensor loss_of(const tend::attention::GPT& model, const Tensor& inputs, const Tensor& targets) {
  const Tensor logits = model(inputs);
  return tend::cross_entropy(logits.view({-1, logits.size(-1)}), targets.view(-1));
}

/// Sequences of `length` tokens from these positions, and the same sequences one token later.
std::pair<Tensor, Tensor> windows(const Tensor& tokens, const Tensor& places, std::int64_t length) {
  const Tensor at = places.unsqueeze(1) + tend::arange(length);
  return {tokens[{at}], tokens[{at + 1}]};
}

/// The mean loss over all tokens, in windows that follow each other.
double mean_loss(const tend::attention::GPT& model, const Tensor& tokens, std::int64_t length) {
  const std::int64_t count = (tokens.numel() - 1) / length;
  const Tensor starts = tend::arange(count) * length;
  double sum = 0;
  for (const Tensor& some : starts.split(64)) {
    const auto [x, y] = windows(tokens, some, length);
    sum += loss_of(model, x, y).item() * static_cast<double>(some.numel());
  }
  return sum / static_cast<double>(count);
}

nlohmann::ordered_json settings_of(const Options& o) {
  return {{"seed", o.seed},
          {"layers", o.model.num_layers},
          {"heads", o.model.num_heads},
          {"width", o.model.width},
          {"context", o.model.context_length},
          {"rotary", o.model.positions == tend::attention::PositionKind::rotary},
          {"dropout", o.model.dropout},
          {"batch", o.batch},
          {"accumulate", o.trainer.accumulate},
          {"steps", o.trainer.steps},
          {"warmup", o.warmup},
          {"rate", o.rate},
          {"min_rate", o.min_rate}};
}

/// Throws std::invalid_argument for options that are not valid together.
void check_options(const Options& o) {
  if (o.out.empty() && (o.trainer.resume || o.trainer.save_every > 0))
    throw std::invalid_argument("--resume and --save-every need the folder of --out");
  if (o.model.width % o.model.num_heads != 0)
    throw std::invalid_argument("--width must be a multiple of --heads");
  if (o.model.dropout > 1) throw std::invalid_argument("--dropout must be at most 1");
  if (o.min_rate > o.rate) throw std::invalid_argument("--min-rate must be at most --rate");
  if (o.warmup >= o.trainer.steps) {
    throw std::invalid_argument("--warmup " + std::to_string(o.warmup) + " must be below --steps " +
                                std::to_string(o.trainer.steps));
  }
}

/// A text as tokens. The first nine tenths are for training, the last tenth is for validation.
struct Data {
  tend::nn::CharVocabulary vocabulary;
  Tensor tokens, training, validation;
};

Data data_of(const std::string& text, std::int64_t length) {
  auto vocabulary = tend::nn::CharVocabulary::from_text(text);
  const Tensor tokens = tend::tensor(vocabulary.encode(text));
  const std::int64_t split = tokens.numel() * 9 / 10;
  Data data{std::move(vocabulary), tokens, tokens[{Slice(0, split)}], tokens[{Slice(split, {})}]};
  if (data.validation.numel() <= length) throw std::runtime_error("the text is too short");
  return data;
}

/// The results of a run.
struct Outcome {
  std::vector<double> losses;  // one per step
  double seconds = 0, validation_loss = 0;
  std::int64_t steps = 0, parameters = 0;
  std::string sample;
};

/// The trainer's options, except the ones that need the model. They add each step's loss to
/// `outcome`, which must live longer than the training.
tend::nn::TrainerOptions trainer_options(const Options& o, const std::string& text,
                                         Outcome& outcome) {
  tend::nn::TrainerOptions options = o.trainer;
  options.out = o.out;
  options.tokens_per_step = o.batch * o.model.context_length * o.trainer.accumulate;
  tend::Fnv1a hash;
  hash.add(text);
  options.settings = {{"settings", settings_of(o).dump()}, {"text", std::to_string(hash.value())}};
  options.after_step = [&outcome](const tend::nn::TrainedStep& done) {
    outcome.losses.push_back(done.loss);
    outcome.seconds = done.seconds;
    if (done.evaluation)
      std::cout << "step " << done.step << ": loss on a part of the validation text "
                << *done.evaluation << std::endl;
  };
  return options;
}

void train_model(tend::attention::GPT& model, const Data& data, const Options& o,
                 const std::string& text, Outcome& outcome) {
  tend::optim::AdamW optimizer(tend::optim::decay_groups(model, 0.1),
                               {.lr = o.rate, .betas = {0.9, 0.99}});
  tend::optim::CosineWithWarmup schedule(
      optimizer, {.warmup = o.warmup, .total = o.trainer.steps, .min_lr = o.min_rate});
  const std::int64_t length = o.model.context_length;
  // During the run only a part of the validation text is evaluated, as in nanoGPT.
  const Tensor watched = data.validation[{Slice(0, 20 * o.batch * length + 1)}];
  tend::nn::TrainerOptions options = trainer_options(o, text, outcome);
  options.schedule = &schedule;
  if (options.evaluate_every > 0)
    options.evaluate = [&] { return mean_loss(model, watched, length); };
  const auto loss = [&] {
    const Tensor places = tend::randint(0, data.training.numel() - length, {o.batch});
    const auto [x, y] = windows(data.training, places, length);
    return loss_of(model, x, y);
  };
  tend::nn::Trainer trainer(model, optimizer, loss, options);
  trainer.state.add("losses", outcome.losses);
  trainer.run();
  outcome.steps = trainer.steps_done();
}

/// The text's first character, and `count` characters that the model generates after it.
std::string sample_of(const tend::attention::GPT& model, const Data& data, std::int64_t count) {
  const std::size_t most = static_cast<std::size_t>(model.config.context_length) - 1;
  std::vector<std::int64_t> written{data.tokens[{0}].item<std::int64_t>()};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t seen = std::min(written.size(), most);
    const std::vector<std::int64_t> prompt(written.end() - static_cast<std::ptrdiff_t>(seen),
                                           written.end());
    written.push_back(tend::attention::generate(
                          model, prompt, {.max_new_tokens = 1, .temperature = 0.8, .top_k = 200})
                          .back());
  }
  return data.vocabulary.decode(written);
}

nlohmann::ordered_json results_of(const Options& o, const Outcome& outcome) {
  return {{"settings", settings_of(o)},       {"validation_loss", outcome.validation_loss},
          {"seconds", outcome.seconds},       {"steps", outcome.steps},
          {"parameters", outcome.parameters}, {"losses", outcome.losses},
          {"sample", outcome.sample}};
}

int run(Options o) {
  o.json_path = program::place_in(o.out, o.json_path);
  if (!o.out.empty()) std::filesystem::create_directories(o.out);
  program::check_can_write(o.json_path);
  check_options(o);
  const std::string text = read_text(o.text);
  const Data data = data_of(text, o.model.context_length);

  o.model.vocab_size = data.vocabulary.vocab_size();
  tend::manual_seed(o.seed);
  tend::attention::GPT model(o.model);
  Outcome outcome;
  outcome.parameters = model.num_parameters();
  std::cout << outcome.parameters << " parameters, " << data.tokens.numel() << " characters"
            << std::endl;
  train_model(model, data, o, text, outcome);

  model.eval();
  const tend::NoGradGuard no_grad;
  outcome.validation_loss = mean_loss(model, data.validation, o.model.context_length);
  std::cout << "validation loss " << outcome.validation_loss << " after " << outcome.steps
            << " steps, " << outcome.seconds << " s\n";
  if (o.sample > 0) {
    outcome.sample = sample_of(model, data, o.sample);
    std::cout << outcome.sample << '\n';
  }
  program::write_results(o.json_path, [&] { return results_of(o, outcome).dump(1); });
  const int signal = tend::nn::InterruptGuard::signal();
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("nanogpt", "Trains nanoGPT on the characters of a text");
  Options options;
  add_options(line, options);
  return line.run(argc, argv, [&] { return run(std::move(options)); });
}
