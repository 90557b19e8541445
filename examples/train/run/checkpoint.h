#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <tend/nn/files/safetensors.h>

#include "examples/train/run/training.h"

namespace train {

/// What a training's checkpoints say besides its state (Trainer::state): the format, the options,
/// the vocabulary, the model's sizes and a fingerprint of the text.
std::map<std::string, std::string> checkpoint_settings(const Training& training);

/// A checkpoint that was read.
class Checkpoint {
 public:
  /// `path` is a checkpoint, or a folder of them, of which the last is taken. Throws
  /// std::runtime_error (or tend::IoError) if there is none, or it is damaged.
  explicit Checkpoint(const std::filesystem::path& path);

  const Options& options() const { return options_; }

  /// Takes a new training, made with these options or with other steps, to where the checkpoint was
  /// written. Throws std::runtime_error if the two do not fit.
  void restore(Training& training) const;

 private:
  std::filesystem::path path_;
  tend::nn::Safetensors file_;
  Options options_;
};

}  // namespace train
