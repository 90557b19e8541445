#pragma once

#include <optional>
#include <string>

#include "examples/train/run/options.h"
#include "examples/train/run/sampling.h"

namespace train {

/// What the command line asks for.
struct CommandLine {
  Options options;   ///< Not used when resuming: the checkpoint has its own.
  std::string out;   ///< The folder of the files to write; empty means the current one.
  std::string json;  ///< Files to write; empty means none.
  std::string report = "report.html";
  std::string checkpoint = "checkpoint.safetensors";
  std::string resume;  ///< A checkpoint to go on from; empty means none.
  Sampling sampling;
  std::optional<double> require;  ///< Share of held-out answers that are to be right.
  bool overwrite = false;         ///< Files that are there may be replaced.
  std::uint64_t save_every = 0;   ///< Steps from one checkpoint to the next; 0: only at the end.
  std::uint64_t keep = 3;         ///< Checkpoints on the way that stay.
  std::optional<std::uint64_t> steps;  ///< Given by name, so it also counts when resuming.

  /// Whether a checkpoint is to go on from a prompt, without more training.
  bool only_samples() const { return !resume.empty() && sampling.prompt && !steps; }
};

/// Reads the command line. Nothing is returned when the program is to end at once, with
/// `exit_code`: after --help, or after wrong usage (2) has been explained on stderr.
std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code);

/// Says on stderr what is wrong with the command line, and returns the exit code for it, 2.
int explain_usage(const std::string& problem);

}  // namespace train
