/// \file
/// The checkpoints of a run, of which the last few stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <tend/nn/training/run_state.h>

namespace tend::nn {

/// Checkpoints in a folder, by step: "step-00000100.safetensors" and so on.
class CheckpointFolder {
 public:
  /// Makes the folder if it is missing.
  ///
  /// Throws: IoError - the folder cannot be made
  ///         Error   - keep is below 1
  explicit CheckpointFolder(std::filesystem::path folder, std::int64_t keep = 3);

  /// Writes the checkpoint of a step with RunState::save, then calls clear(step). Returns its path.
  ///
  /// Throws: Error   - the step is negative
  ///         IoError - it cannot be written
  std::filesystem::path save(const RunState& run, std::int64_t step,
                             const std::map<std::string, std::string>& settings = {}) const;

  /// Removes the earliest checkpoints beyond the last `keep`, the checkpoints of later steps, and
  /// unfinished checkpoints of killed processes. A run that continues from this step calls it,
  /// since the process before it may have been killed before it did so itself.
  void clear(std::int64_t step) const;

  /// The checkpoints by step. Other files are skipped.
  std::map<std::int64_t, std::filesystem::path> steps() const;

  /// The checkpoint of the last step; empty if there is none.
  std::filesystem::path last() const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace tend::nn
