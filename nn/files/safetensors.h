// Weights in files that Python's safetensors reads and writes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <tend/nn/module/module.h>

namespace tend::nn {

/// What a .safetensors file holds: named tensors, and free text.
struct Safetensors {
  StateDict tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Writes float32, float64, int64 and bool tensors, as write_file does: a regular file appears
/// whole or not at all. IoError for a name that is empty, not UTF-8, "__metadata__" or used twice,
/// for tensors beyond 2^63 bytes, and where the file cannot be written. Format:
/// https://github.com/huggingface/safetensors
void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const std::map<std::string, std::string>& metadata = {});

/// Reads F32, F64, I64 and BOOL as they are, F16 and BF16 as float32. Nothing of the header is
/// trusted: IoError names the path and what is wrong (lengths, offsets that overlap, leave gaps or
/// leave the file, unknown dtypes, sizes that are not whole, names used twice, lists within lists).
/// IoError also for what is no regular file, as a pipe or a folder.
Safetensors load_safetensors(const std::filesystem::path& path);

}  // namespace tend::nn
