#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace train {

/// Everything that decides what a run computes. Each task has its own defaults; each field is an
/// option of the command line.
struct Options {
  std::string task = "reverse";  ///< A name of task_names(), or "text".
  std::string text;              ///< For the task "text": the file to model.
  std::uint64_t length =
      10;  ///< Symbols, digits or pairs of a sequence; for text, the context in bytes.

  std::uint64_t layers = 1;
  std::uint64_t heads = 1;
  std::uint64_t width = 64;
  double dropout = 0.0;
  std::optional<double> init =
      0.02;  ///< Standard deviation of the weights; none means 1/sqrt(fan_in).
  std::optional<double>
      embedding_init;  ///< The same for the embeddings; none means as `init`, with fan_in = width.

  std::uint64_t batch = 64;
  std::uint64_t shards = 0;  ///< Of a batch, which processes share; 0: there is one process.
  std::uint64_t steps = 150;
  /// A run whose check fails after its steps goes on to twice as many, up to these.
  std::uint64_t max_steps = 600;
  std::uint64_t warmup = 20;
  double rate = 3e-3;  ///< The peak: reached after the warm-up, then a cosine down to 2 % of it.
  double beta1 = 0.9;
  double beta2 = 0.98;
  double weight_decay = 0.01;  ///< On matrices only.
  double clip = 1.0;           ///< Largest norm of the gradient.
  std::uint64_t seed = 0;
};

/// The tasks that the program makes itself; the first is the default.
const std::vector<std::string>& task_names();

/// Options with which the task is learned from any seed, in seconds. Throws std::invalid_argument
/// for an unknown name.
Options default_options(std::string_view task);

/// Throws std::invalid_argument, naming the option, if a run cannot have these options.
void validate(const Options& options);

/// Each option's name and value as words, for the report.
std::vector<std::pair<std::string, std::string>> describe(const Options& options);

/// The learning rate of a step, counted from 0.
double rate_at(const Options& options, std::uint64_t step);

}  // namespace train
