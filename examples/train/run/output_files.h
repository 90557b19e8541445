#pragma once

#include <string>

#include "examples/train/run/command_line.h"

namespace train {

// The files that a run writes.

/// Puts file names without a folder into the folder of --out. The default of --out is the folder of
/// --resume. The name "none" becomes an empty name.
void place_files(CommandLine& command_line);

/// Creates the folder of --out, and checks the files before the run changes any of them.
///
/// Existing files may only be replaced with --overwrite, or with --resume if they are in the folder
/// of the resumed run.
///
/// Throws: std::runtime_error or tend::IoError - a file cannot be written, or may not be replaced
void check_files(const CommandLine& command_line);

/// Removes the checkpoints and logs of another run from the folder of --out. Otherwise --resume
/// would use them for the new run. Call check_files() first.
void clear_folder(const CommandLine& command_line);

}  // namespace train
