// Weights in files that Python's safetensors reads and writes.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <tend/core/base/error.h>
#include <tend/nn/files/load_options.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// What a .safetensors file holds: named tensors, and free text.
struct Safetensors {
  StateDict tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;

  /// So that model.load_state_dict(load_safetensors(path)) does what it says.
  operator const StateDict&() const noexcept { return tensors; }
};

/// 16-bit floats, which files have and tensors have not: IEEE 754's, and the upper half of float32.
enum class HalfType : unsigned char { float16, bfloat16 };

/// The options of save_safetensors.
struct SafetensorsOptions {
  /// Floating tensors are written as F16 or BF16: rounded to the nearest such number, halves to
  /// even, as PyTorch's x.to(torch.float16). What is too large becomes infinite, NaN stays NaN.
  std::optional<HalfType> dtype = std::nullopt;
  std::map<std::string, std::string> metadata = {};
};

///@{
/// Writes float32, float64, int64 and bool tensors, as write_file does: a regular file appears
/// whole or not at all. IoError for a name that is empty, not UTF-8, "__metadata__" or used twice,
/// for tensors beyond 2^63 bytes or 64 dimensions, and where the file cannot be written. Format:
/// https://github.com/huggingface/safetensors
/// M is a map of strings: a template, so that {.metadata = ...} are the options.
void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const SafetensorsOptions& options = {});
template <std::same_as<std::map<std::string, std::string>> M = std::map<std::string, std::string>>
void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const M& metadata) {
  save_safetensors(path, tensors, SafetensorsOptions{std::nullopt, metadata});
}
///@}

/// How weights are divided among files.
struct ShardOptions {
  /// In bytes of elements. A tensor that is larger by itself has a file for itself.
  std::int64_t max_shard_size = 5'000'000'000;
  std::optional<HalfType> dtype = std::nullopt;  ///< as SafetensorsOptions has it
  std::map<std::string, std::string> metadata = {{"format", "pt"}};  ///< of each file
};

/// Writes a folder's model.safetensors, or, if that would be larger than `max_shard_size`,
/// model-00001-of-00003.safetensors and so on with model.safetensors.index.json, as Hugging Face's
/// save_pretrained does, in the order of `tensors`. The folder must have one writer at a time.
///
/// The files are written under other names (NAME.tmp) first; until all are whole, nothing has
/// changed. Then the old index and model.safetensors are removed, the shards get their names, and
/// their index comes last: it never names files that are missing or older. A new model.safetensors
/// replaces the old one before the old index is removed. Shards of other counts stay.
/// Throws: IoError  - as save_safetensors
///                  - the folder does not exist
///         Error    - max_shard_size is below 1
void save_safetensors_shards(const std::filesystem::path& folder, const StateDict& tensors,
                             const ShardOptions& options = {});

namespace safetensors {
/// A text file of a folder of shards.
struct FileBeside {
  std::string name, text;
};

/// Writes `beside` with the shards, as save_safetensors_shards does. An old file of its name is
/// removed before the first shard has changed, and the new one appears when all shards are there.
void save_shards_with(const std::filesystem::path& folder, const StateDict& tensors,
                      const ShardOptions& options, const FileBeside& beside);
}  // namespace safetensors

/// Reads F32, F64, I64 and BOOL as they are, F16 and BF16 as float32, and integers of other sizes
/// as int64 (IoError for one that int64 cannot hold). A path that ends in ".json" is an index, as
/// model.safetensors.index.json: the tensors that it names are read from the files beside it, and
/// metadata of all files is joined. Nothing of a header or an index is trusted: IoError names the
/// path and what is wrong (lengths, offsets that overlap, leave gaps or leave the file, unknown
/// dtypes, sizes that are not whole, names used twice, lists within lists, files elsewhere, tensors
/// that are not in their file). IoError also for what is no regular file, as a pipe or a folder.
/// SafetensorsFile reads a tensor at a time.
Safetensors load_safetensors(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tend::nn
