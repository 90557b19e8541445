#pragma once

#include <string>

#include "examples/train/run/command_line.h"

namespace train {

// The files that a run writes.

/// Puts names without a folder into that of --out, which is --resume's unless given; "none" becomes
/// no file.
void place_files(CommandLine& command_line);

/// Creates the folder of --out, and checks the files before a run changes any. Throws
/// std::runtime_error (or tend::IoError) when one cannot be written, and when it is there already:
/// only --overwrite replaces what it finds, and --resume the files of its own folder.
void check_files(const CommandLine& command_line);

/// Removes the checkpoints and logs of another run that are in the folder of --out and may be
/// replaced: --resume would use them as those of the new run.
void clear_folder(const CommandLine& command_line);

}  // namespace train
