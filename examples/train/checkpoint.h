#pragma once

#include <string>

#include "training.h"

namespace train {

/// Writes a .safetensors file: the model's weights under their own names (so that any program can
/// use them), beside them under "training." what else it takes to go on as if never interrupted;
/// the settings in the metadata.
void save_checkpoint(Training& training, const std::string& path);

/// The settings of a checkpoint. Throws std::runtime_error if the file is no checkpoint.
Settings checkpoint_settings(const std::string& path);

/// Brings a new training, made with the checkpoint's settings, to where the checkpoint was written.
/// Throws std::runtime_error if the two do not fit.
void load_checkpoint(Training& training, const std::string& path);

}  // namespace train
