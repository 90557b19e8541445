// Trains a small GPT on the characters of a text, with the settings that nanoGPT publishes for a
// laptop (https://github.com/karpathy/nanoGPT) but for rotary positions, a head of its own and the
// layers' own first weights, and writes a sample.

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/text/vocabulary.h>
#include <tend/tend.h>

#include "examples/program.h"
#include "examples/train/task/hash.h"

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
  line.add_file("--text", o.text, "The text to learn; its last tenth is for validation").required();
  line.add_json(o.json_path);
  line.add_whole("--seed", o.seed, "Of weights, batches and sample (1337)");
  line.add_threads();
  line.add_whole("--layers", o.model.num_layers, "Blocks (4)", 1, 1000);
  line.add_whole("--heads", o.model.num_heads, "Heads of each (4)", 1, 1000);
  line.add_whole("--width", o.model.width, "Width (128)", 1, 100'000);
  line.add_whole("--context", o.model.context_length, "Context length (64)", 2, 100'000);
  line.add_flag("--learned-positions", o.model.positions,
                "Learn a vector for each position instead of rotating",
                tend::attention::PositionKind::learned);
  line.add_number("--dropout", o.model.dropout, "Dropout (0)", 0);
  line.add_whole("--batch", o.batch, "Sequences of a micro-batch (12)", 1, 100'000);
  line.add_whole("--accumulate", o.trainer.accumulate, "Micro-batches of a step (1)", 1, 100'000);
  line.add_whole("--steps", o.trainer.steps, "Steps (2000)", 1, 1'000'000'000);
  line.add_whole("--warmup", o.warmup, "Steps in which the rate rises (100)", 0, 1'000'000'000);
  line.add_number("--rate", o.rate, "Learning rate (0.001)", 0);
  line.add_number("--min-rate", o.min_rate, "Learning rate at the end (0.0001)", 0);
  line.add_whole("--evaluate-every", o.trainer.evaluate_every, "Steps (250)", 0);
  line.add_whole("--sample", o.sample, "Characters to write at the end (300)", 0, 100'000);
  line.add_text("--out", o.out, "Folder of checkpoints and logs");
  line.add_whole("--save-every", o.trainer.save_every, "Steps between checkpoints", 0);
  line.add_flag("--resume", o.trainer.resume, "Go on from the last checkpoint in --out");
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

/// Rows of `length` tokens and of those that follow them, from these places.
std::pair<Tensor, Tensor> windows(const Tensor& tokens, const Tensor& places, std::int64_t length) {
  const Tensor at = places.unsqueeze(1) + tend::arange(length);
  return {tokens[{at}], tokens[{at + 1}]};
}

/// The mean loss over all of the tokens, in windows that follow each other.
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

/// Throws std::invalid_argument where the results would replace the text, a log or a checkpoint.
void check_json(const Options& o) {
  program::check_differ("--json", o.json_path, "--text", o.text);
  if (o.json_path.empty() || o.out.empty()) return;
  const std::filesystem::path folder = o.out, json = o.json_path;
  for (const char* log : {"log.jsonl", "log.csv"})
    program::check_differ("--json", json, "a log of --out", folder / log);
  if (json.extension() == ".safetensors")
    program::check_differ("--json", json, "a checkpoint of --out", folder / json.filename());
}

int run(Options o) {
  check_json(o);
  program::check_can_write(o.json_path);
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
  const std::string text = read_text(o.text);
  const auto vocabulary = tend::nn::CharVocabulary::from_text(text);
  const Tensor tokens = tend::tensor(vocabulary.encode(text));
  const std::int64_t split = tokens.numel() * 9 / 10, length = o.model.context_length;
  const Tensor training = tokens[{Slice(0, split)}], validation = tokens[{Slice(split, {})}];
  // On its way a run looks at a part of it, as nanoGPT does, and in the end at all.
  const Tensor watched = validation[{Slice(0, 20 * o.batch * length + 1)}];
  if (validation.numel() <= length) throw std::runtime_error("the text is too short");

  o.model.vocab_size = vocabulary.vocab_size();
  tend::manual_seed(o.seed);
  tend::attention::GPT model(o.model);
  tend::optim::AdamW optimizer(tend::optim::decay_groups(model, 0.1),
                               {.lr = o.rate, .betas = {0.9, 0.99}});
  tend::optim::CosineWithWarmup schedule(
      optimizer, {.warmup = o.warmup, .total = o.trainer.steps, .min_lr = o.min_rate});

  std::vector<double> losses;
  double seconds = 0;
  o.trainer.out = o.out;
  o.trainer.tokens_per_step = o.batch * length * o.trainer.accumulate;
  train::Hash hash;
  hash.add(text);
  o.trainer.settings = {{"settings", settings_of(o).dump()},
                        {"text", std::to_string(hash.value())}};
  o.trainer.schedule = &schedule;
  if (o.trainer.evaluate_every > 0)
    o.trainer.evaluate = [&] { return mean_loss(model, watched, length); };
  o.trainer.after_step = [&](const tend::nn::TrainedStep& done) {
    losses.push_back(done.loss);
    seconds = done.seconds;
    if (done.evaluation)
      std::cout << "step " << done.step << ": loss on a part of the validation text "
                << *done.evaluation << std::endl;
  };
  const auto loss = [&] {
    const auto [x, y] = windows(training, tend::randint(0, split - length, {o.batch}), length);
    return loss_of(model, x, y);
  };
  std::cout << model.num_parameters() << " parameters, " << tokens.numel() << " characters"
            << std::endl;
  tend::nn::Trainer trainer(model, optimizer, loss, o.trainer);
  trainer.state.add("losses", losses);
  trainer.run();

  model.eval();
  const tend::NoGradGuard no_grad;
  const double found = mean_loss(model, validation, length);
  std::cout << "validation loss " << found << " after " << trainer.steps_done() << " steps, "
            << seconds << " s\n";
  std::string sample;
  if (o.sample > 0) {
    std::vector<std::int64_t> written{tokens[{0}].item<std::int64_t>()};
    for (std::int64_t i = 0; i < o.sample; ++i) {
      const auto first = written.size() > static_cast<std::size_t>(length) - 1
                             ? written.end() - (length - 1)
                             : written.begin();
      const std::vector<std::int64_t> seen(first, written.end());
      written.push_back(tend::attention::generate(
                            model, seen, {.max_new_tokens = 1, .temperature = 0.8, .top_k = 200})
                            .back());
    }
    sample = vocabulary.decode(written);
    std::cout << sample << '\n';
  }
  const nlohmann::ordered_json results{{"settings", settings_of(o)},
                                       {"validation_loss", found},
                                       {"seconds", seconds},
                                       {"steps", trainer.steps_done()},
                                       {"parameters", model.num_parameters()},
                                       {"losses", losses},
                                       {"sample", sample}};
  program::write_results(o.json_path, results.dump(1));
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
