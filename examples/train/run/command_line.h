#pragma once

#include <optional>
#include <string>

#include "examples/train/run/options.h"
#include "examples/train/run/sampling.h"

namespace train {

/// The options of the command line.
struct CommandLine {
  Options options;   ///< Not used with --resume, because the checkpoint has its own options.
  std::string out;   ///< The folder for the files to write. Empty means the current folder.
  std::string json;  ///< The file of results. Files with an empty name are not written.
  std::string report = "report.html";
  std::string checkpoint = "checkpoint.safetensors";
  std::string resume;  ///< A checkpoint to continue from. Empty means a new run.
  Sampling sampling;
  std::optional<double> require;  ///< The required share of right held-out answers.
  bool overwrite = false;         ///< True if existing files may be replaced.
  std::uint64_t save_every = 0;   ///< Steps from one checkpoint to the next; 0: only at the end.
  std::uint64_t keep = 3;         ///< The number of checkpoints of `save_every` to keep.
  std::optional<std::uint64_t> steps;  ///< The value of --steps, if given. Also used with --resume.

  /// True if the program only continues a prompt with the model of a checkpoint, and does not
  /// train.
  bool only_samples() const { return !resume.empty() && sampling.prompt && !steps; }
};

/// Reads the command line.
///
/// Returns std::nullopt if the program must end now, with `exit_code`. The code is 0 after --help.
/// It is 2 for wrong usage, which is explained on stderr.
std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code);

/// Prints on stderr what is wrong with the command line. Returns the exit code, which is 2.
int explain_usage(const std::string& problem);

}  // namespace train
