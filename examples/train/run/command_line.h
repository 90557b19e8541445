#pragma once

#include <optional>
#include <string>

#include "examples/train/run/options.h"

namespace train {

/// What the command line asks for.
struct CommandLine {
  Options options;   ///< Not used when resuming: the checkpoint has its own.
  std::string json;  ///< Files to write; empty means none.
  std::string report = "report.html";
  std::string checkpoint = "checkpoint.safetensors";
  std::string resume;                  ///< A checkpoint to go on from; empty means none.
  std::optional<std::uint64_t> steps;  ///< Given by name, so it also counts when resuming.
  int threads = 0;                     ///< 0: not given.
};

/// Reads the command line. Nothing is returned when the program is to end at once, with
/// `exit_code`: after --help, or after wrong usage (2) has been explained on stderr.
std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code);

/// Throws std::invalid_argument when a file is to be written that is also another of the
/// command_line' files, or the text: one would be lost. --checkpoint and --resume may be one.
void refuse_shared_files(const CommandLine& command_line, const std::string& text);

/// Says on stderr what is wrong with the command line, and returns the exit code for it, 2.
int explain_usage(const std::string& problem);

}  // namespace train
