#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace train {

/// Everything that decides what a run computes. Each task has its own defaults; for_each_option()
/// says what the fields mean.
struct Options {
  std::string task = "reverse";  ///< A name of task_names(), or "text".
  std::string text;              ///< For the task "text": the file to model.
  std::uint64_t length = 10;

  std::uint64_t layers = 1;
  std::uint64_t heads = 1;
  std::uint64_t width = 64;
  double dropout = 0.0;
  std::optional<double> init = 0.02;     ///< None: 1/sqrt(fan_in).
  std::optional<double> embedding_init;  ///< None: as `init`, with fan_in = width.

  std::uint64_t batch = 64;
  std::uint64_t shards = 0;  ///< 0: there is one process.
  std::uint64_t steps = 150;
  std::uint64_t max_steps = 600;
  std::uint64_t warmup = 20;
  double rate = 3e-3;
  double beta1 = 0.9;
  double beta2 = 0.98;
  double weight_decay = 0.01;
  double clip = 1.0;
  std::uint64_t seed = 0;
};

/// What the command line, checkpoints and the report say of an option.
struct OptionText {
  const char* name;    ///< In checkpoints and results.
  const char* option;  ///< On the command line.
  const char* group;   ///< Of --help.
  const char* help;
};

/// The values that a number can have. The upper bounds of sizes only keep every product of them
/// within 64 bits.
struct Range {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool excludes_least = false;
  bool excludes_most = false;
};

/// f(text, field, range) for each number of the options.
template <class S, class F>
void for_each_option(S& s, F&& f) {
  constexpr Range kSteps{0, 1e9}, kAboveZero{.excludes_least = true};
  constexpr Range kBelowOne{.most = 1, .excludes_most = true};
  f(OptionText{"length", "--length,--context", "Task",
               "Digits, letters or pairs of a sequence; bytes of a text"},
    s.length, Range{1, 1 << 20});
  f(OptionText{"layers", "--layers", "Model", "Transformer blocks"}, s.layers, Range{1, 1024});
  f(OptionText{"heads", "--heads", "Model", "Attention heads of a block"}, s.heads,
    Range{1, 1 << 16});
  f(OptionText{"width", "--width", "Model", "Width, a multiple of the heads"}, s.width,
    Range{1, 1 << 16});
  f(OptionText{"dropout", "--dropout", "Model", "Share of activations dropped in training"},
    s.dropout, kBelowOne);
  f(OptionText{"init", "--init", "Training",
               "Standard deviation of the initial weights; fan: 1/sqrt(inputs)"},
    s.init, kAboveZero);
  f(OptionText{"embedding_init", "--init-embedding", "Training",
               "The same of the embeddings; fan: as --init"},
    s.embedding_init, kAboveZero);
  f(OptionText{"batch", "--batch", "Training", "Sequences of a step"}, s.batch, Range{1, 1 << 20});
  f(OptionText{"shards", "--shards", "Training",
               "Divide each batch into so many parts, a power of two, which the processes of "
               "mpirun share. Results depend on it, not on the number of processes; 0: one process "
               "has all"},
    s.shards, Range{0, 1 << 20});
  f(OptionText{"steps", "--steps", "Training", "Optimizer steps"}, s.steps, kSteps);
  f(OptionText{"max_steps", "--max-steps", "Training",
               "After --steps, two thousand held-out answers are checked (others than those of the "
               "final figures). While one is wrong, the run goes on to twice the steps, as with "
               "--resume, up to these. --steps without --max-steps stays as it is (not for texts)"},
    s.max_steps, kSteps);
  f(OptionText{"warmup", "--warmup", "Training", "Steps until the peak"}, s.warmup, kSteps);
  f(OptionText{"rate", "--rate", "Training",
               "Peak learning rate; a cosine leads down to 2 % of it"},
    s.rate, kAboveZero);
  f(OptionText{"beta1", "--beta1", "Training", "AdamW's first decay"}, s.beta1, kBelowOne);
  f(OptionText{"beta2", "--beta2", "Training", "AdamW's second decay"}, s.beta2, kBelowOne);
  f(OptionText{"weight_decay", "--weight-decay", "Training", "AdamW's weight decay, on matrices"},
    s.weight_decay, Range{});
  f(OptionText{"clip", "--clip", "Training", "Largest norm of the gradient"}, s.clip, kAboveZero);
  f(OptionText{"seed", "--seed", "Training", "Seed of weights, batches and dropout"}, s.seed,
    Range{});
}

/// The tasks that the program makes itself; the first is the default.
const std::vector<std::string>& task_names();

/// Options with which the task is learned from any seed, in seconds. Throws std::invalid_argument
/// for an unknown name.
Options default_options(std::string_view task);

/// Throws std::invalid_argument, naming the option, if a run cannot have these options.
void validate(const Options& options);

/// Each option's name and value as words, for the report.
std::vector<std::pair<std::string, std::string>> describe(const Options& options);

std::string options_to_json(const Options& options);

/// Throws std::runtime_error, naming the option, if one is missing or out of its range.
Options options_from_json(const std::string& json);

/// The learning rate of a step, counted from 0.
double rate_at(const Options& options, std::uint64_t step);

}  // namespace train
