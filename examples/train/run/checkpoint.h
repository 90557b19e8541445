#pragma once

#include <string>

#include <tend/nn/files/safetensors.h>

#include "examples/train/run/training.h"

namespace train {

/// Writes a .safetensors file: the model's weights under their own names (so that any program can
/// use them), beside them under "training." what else it takes to go on as if never interrupted. In
/// the metadata are the options, the vocabulary, the model's sizes and a checksum of everything
/// else in the file, options included.
void save_checkpoint(Training& training, const std::string& path);

/// Everything that the steps of a training change, in memory.
class Snapshot {
 public:
  explicit Snapshot(Training& training);

  /// Puts the training, or one of the same options, back to where it was.
  void restore(Training& training) const;

 private:
  tend::nn::StateDict state_;
};

/// A checkpoint that was read.
class Checkpoint {
 public:
  /// Throws std::runtime_error (or tend::IoError) if the file is no checkpoint, or is damaged: its
  /// checksum is not that of its content. Files of earlier formats ("tend train 1" has no checksum,
  /// "tend train 2" no vocabulary, sizes and scores of heads, "tend train 3" no checks) are read
  /// all the same.
  explicit Checkpoint(const std::string& path);

  const Options& options() const { return options_; }

  /// A training, made with these options (the checkpoint's, or with other steps), where the
  /// checkpoint was written. Throws std::runtime_error if the two do not fit.
  Training resume(const Options& options, Task task) const;

 private:
  std::string path_;
  tend::nn::Safetensors file_;
  Options options_;
};

}  // namespace train
