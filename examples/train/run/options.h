#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace train {

/// All options that affect the results of a run. Each task has its own defaults. for_each_option()
/// describes the fields.
struct Options {
  std::string task = "reverse";  ///< A name of task_names(), or "text".
  std::string text;              ///< The file of the task "text".
  std::uint64_t length = 10;

  std::uint64_t layers = 1;
  std::uint64_t heads = 1;
  std::uint64_t width = 64;
  double dropout = 0.0;
  std::optional<double> init = 0.02;     ///< Empty: 1/sqrt(fan_in).
  std::optional<double> embedding_init;  ///< Empty: the same as `init`, with fan_in = width.

  std::uint64_t batch = 64;
  std::uint64_t shards = 0;  ///< 0: one process, without MPI.
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

/// The texts of an option.
struct OptionText {
  const char* name;    ///< Its name in checkpoints and results.
  const char* option;  ///< Its name on the command line.
  const char* group;   ///< Its group in --help.
  const char* help;
};

/// The valid values of a number. Sizes have upper bounds only because their products must fit into
/// 64 bits.
struct Range {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool excludes_least = false;
  bool excludes_most = false;
};

/// Calls f(text, field, range) for each numeric option.
template <class S, class F>
void for_each_option(S& s, F&& f) {
  constexpr Range kSteps{0, 1e9}, kAboveZero{.excludes_least = true};
  constexpr Range kBelowOne{.most = 1, .excludes_most = true};
  f(OptionText{"length", "--length,--context", "Task",
               "Number of digits, letters or pairs in a sequence, or of bytes for a text"},
    s.length, Range{1, 1 << 20});
  f(OptionText{"layers", "--layers", "Model", "Number of transformer blocks"}, s.layers,
    Range{1, 1024});
  f(OptionText{"heads", "--heads", "Model", "Attention heads per block"}, s.heads,
    Range{1, 1 << 16});
  f(OptionText{"width", "--width", "Model", "Width, a multiple of --heads"}, s.width,
    Range{1, 1 << 16});
  f(OptionText{"dropout", "--dropout", "Model",
               "Dropout: the share of activations that training sets to 0"},
    s.dropout, kBelowOne);
  f(OptionText{"init", "--init", "Training",
               "Standard deviation of the initial weights; fan means 1/sqrt(number of inputs)"},
    s.init, kAboveZero);
  f(OptionText{"embedding_init", "--init-embedding", "Training",
               "Standard deviation of the initial embeddings; fan has the same meaning as for "
               "--init"},
    s.embedding_init, kAboveZero);
  f(OptionText{"batch", "--batch", "Training", "Sequences per step"}, s.batch, Range{1, 1 << 20});
  f(
      OptionText{
          "shards", "--shards", "Training",
          "Number of parts of a batch, a power of two. The processes of mpirun divide the parts "
          "among them. Results depend on this number, not on the number of processes; 0 means "
          "one process, without MPI"},
      s.shards, Range{0, 1 << 20});
  f(OptionText{"steps", "--steps", "Training", "Optimizer steps"}, s.steps, kSteps);
  f(
      OptionText{
          "max_steps", "--max-steps", "Training",
          "After --steps, the run checks up to 2,000 held-out answers (the final results use "
          "others). While one is wrong, it doubles the steps, up to this number. If only --steps "
          "is given, the run does not continue. Runs on a text never continue"},
      s.max_steps, kSteps);
  f(OptionText{"warmup", "--warmup", "Training", "Steps until the learning rate reaches its peak"},
    s.warmup, kSteps);
  f(OptionText{"rate", "--rate", "Training",
               "Peak learning rate, which then falls to 2 % along a cosine"},
    s.rate, kAboveZero);
  f(OptionText{"beta1", "--beta1", "Training", "AdamW's beta1"}, s.beta1, kBelowOne);
  f(OptionText{"beta2", "--beta2", "Training", "AdamW's beta2"}, s.beta2, kBelowOne);
  f(OptionText{"weight_decay", "--weight-decay", "Training",
               "AdamW's weight decay, for matrices only"},
    s.weight_decay, Range{});
  f(OptionText{"clip", "--clip", "Training", "Gradients are clipped to this norm"}, s.clip,
    kAboveZero);
  f(OptionText{"seed", "--seed", "Training", "Seed of weights, batches and dropout"}, s.seed,
    Range{});
}

/// All tasks except "text". The first is the default.
const std::vector<std::string>& task_names();

/// The default options of a task. With these options a model learns any task of task_names() in
/// seconds, from any seed.
///
/// Throws: std::invalid_argument - the name is unknown
Options default_options(std::string_view task);

/// Checks the options.
///
/// Throws: std::invalid_argument - an option is not valid; the message names it
void validate(const Options& options);

/// The name and value of each option as text, for the report.
std::vector<std::pair<std::string, std::string>> describe(const Options& options);

std::string options_to_json(const Options& options);

/// Reads options from JSON.
///
/// Throws: std::runtime_error - an option is missing or out of its range; the message names it
Options options_from_json(const std::string& json);

/// The learning rate of a step, counted from 0.
double rate_at(const Options& options, std::uint64_t step);

}  // namespace train
