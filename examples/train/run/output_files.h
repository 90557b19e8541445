#pragma once

#include <string>

#include "examples/train/run/command_line.h"

namespace train {

// The files that a run writes.

/// Puts names that are not absolute into the folder of --out; "none" becomes no file.
void place_files(CommandLine& command_line);

/// Looks at all of them before a run changes anything. Throws std::invalid_argument when one is
/// also another of the command line's files, or the text: one would be lost. std::runtime_error (or
/// tend::IoError) when one cannot be written, and when it is there already: only --overwrite
/// replaces what it finds, and --resume the files of its own folder.
void check_files(const CommandLine& command_line, const std::string& text);

/// Creates the folder of --out, and removes the checkpoints and logs of another run that are there
/// and may be replaced: --resume would use them as those of the new run.
void prepare_folder(const CommandLine& command_line);

}  // namespace train
