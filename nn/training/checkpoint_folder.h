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

  /// Writes the checkpoint of a step with RunState::save, and then removes the earliest beyond the
  /// last `keep`, those of later steps, which a run that went back has left, and what killed
  /// processes have left. Returns its path.
  /// Error for a negative step; IoError where it cannot be written.
  std::filesystem::path save(const RunState& run, std::int64_t step,
                             const std::map<std::string, std::string>& settings = {}) const;

  /// The checkpoints that are there, by step. Other files are passed over.
  std::map<std::int64_t, std::filesystem::path> steps() const;

  /// The checkpoint of the last step; empty where there is none.
  std::filesystem::path last() const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace tend::nn
