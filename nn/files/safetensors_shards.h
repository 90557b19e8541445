// Shards with a file that tells what their tensors mean.
#pragma once

#include <filesystem>
#include <string>

#include <tend/nn/files/safetensors.h>

namespace tend::nn::safetensors {

/// A text file of a folder of shards.
struct FileBeside {
  std::string name, text;
};

/// Writes `beside` with the shards, as save_safetensors_shards does. An old one of its name is
/// removed before the first shard has changed, and the new one appears when all of them are there.
void save_shards_with(const std::filesystem::path& folder, const StateDict& tensors,
                      const ShardOptions& options, const FileBeside& beside);

}  // namespace tend::nn::safetensors
