#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <tend/nn/files/safetensors.h>

#include "examples/train/run/training.h"

namespace train {

/// The metadata of a training's checkpoints: the format, the options, the vocabulary, the sizes of
/// the model and a hash of the text.
std::map<std::string, std::string> checkpoint_settings(const Training& training);

/// A checkpoint, read from a file.
class Checkpoint {
 public:
  /// Reads a checkpoint. If `path` is a folder, reads its last checkpoint.
  ///
  /// Throws: std::runtime_error or tend::IoError - there is no checkpoint, or it is damaged
  explicit Checkpoint(const std::filesystem::path& path);

  const Options& options() const { return options_; }

  /// Restores the state of the checkpoint in a new training. The training must have the
  /// checkpoint's options, except that its number of steps may differ.
  ///
  /// Throws: std::runtime_error - the checkpoint does not fit the training
  void restore(Training& training) const;

 private:
  std::filesystem::path path_;
  tend::nn::Safetensors file_;
  Options options_;
};

}  // namespace train
