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
  /// Makes the folder, where it is missing. IoError where that fails; Error unless at least one
  /// file is to be kept.
  explicit CheckpointFolder(std::filesystem::path folder, std::int64_t keep = 3);

  /// Writes the checkpoint of a step with RunState::save, and then clears the folder. Returns its
  /// path.
  /// Error for a negative step; IoError where it cannot be written.
  std::filesystem::path save(const RunState& run, std::int64_t step,
                             const std::map<std::string, std::string>& settings = {}) const;

  /// Removes the earliest checkpoints beyond the last `keep`, those of later steps than this one,
  /// which a run that went back has left, and parts of checkpoints that killed processes have left.
  /// For a run that goes on from this step: the process before it may have been killed before it
  /// did so itself.
  void clear(std::int64_t step) const;

  /// The checkpoints that are there, by step. Other files are passed over, and folders and links to
  /// nothing that are named like checkpoints.
  std::map<std::int64_t, std::filesystem::path> steps() const;

  /// The checkpoint of the last step; empty where there is none.
  std::filesystem::path last() const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace tend::nn
