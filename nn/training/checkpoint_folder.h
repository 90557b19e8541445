/// \file
/// A folder with the last few checkpoints of a run.
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
  /// Makes the folder if it is missing. `keep` is the number of checkpoints that stay.
  ///
  /// Throws:
  ///   IoError - the folder cannot be made
  ///   Error   - keep is below 1
  explicit CheckpointFolder(std::filesystem::path folder, std::int64_t keep = 3);

  /// Writes the checkpoint of a step with RunState::save, then calls clear(step). Returns the path
  /// of the checkpoint.
  ///
  /// Throws:
  ///   Error   - the step is negative
  ///   IoError - the checkpoint cannot be written
  std::filesystem::path save(const RunState& run, std::int64_t step,
                             const std::map<std::string, std::string>& settings = {}) const;

  /// Removes checkpoints that are no longer needed.
  ///
  /// Of the checkpoints up to this step, only the last `keep` stay. The checkpoints of later steps
  /// and unfinished checkpoints of killed processes are removed. Call clear() when a run continues
  /// from this step, since the earlier process may have been killed before its own clear().
  void clear(std::int64_t step) const;

  /// The checkpoints by step. Other files are skipped.
  std::map<std::int64_t, std::filesystem::path> steps() const;

  /// The path of the checkpoint of the last step; empty if there is none.
  std::filesystem::path last() const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace tend::nn
