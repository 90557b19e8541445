// .safetensors files: named tensors, as Python's safetensors reads and writes them.
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

/// The content of a .safetensors file: named tensors, and named texts.
struct Safetensors {
  StateDict tensors;  // in the order of their bytes in the file
  std::map<std::string, std::string> metadata;

  /// Makes model.load_state_dict(load_safetensors(path)) possible.
  operator const StateDict&() const noexcept { return tensors; }
};

/// The 16-bit floats of files. Tensors do not have these dtypes. float16 is IEEE 754's binary16,
/// bfloat16 the upper half of a float32.
enum class HalfType : unsigned char { float16, bfloat16 };

/// The options of save_safetensors.
struct SafetensorsOptions {
  /// If set, floating tensors are written as F16 or BF16. Each element is rounded to the nearest
  /// such number and a tie to the even one, as in PyTorch's x.to(torch.float16). Elements that are
  /// too large become infinite, and NaN stays NaN.
  std::optional<HalfType> dtype = std::nullopt;
  std::map<std::string, std::string> metadata = {};
};

///@{
/// Writes named tensors to a .safetensors file.
///
/// The tensors may be float32, float64, int64 and bool. As with write_file, a regular file appears
/// whole or not at all. In the second form, M is always a map of strings. This form is a template
/// only so that {.metadata = ...} is still read as the options.
///
/// Throws:
///   IoError - a name is empty, not UTF-8, "__metadata__" or used twice
///   IoError - a tensor is undefined or has more than 64 dimensions
///   IoError - the tensors have more than 2^63 bytes
///   IoError - names and metadata have more than 100,000,000 bytes
///   IoError - the file cannot be written
///
/// Format: https://github.com/huggingface/safetensors
void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const SafetensorsOptions& options = {});
template <std::same_as<std::map<std::string, std::string>> M = std::map<std::string, std::string>>
void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const M& metadata) {
  save_safetensors(path, tensors, SafetensorsOptions{std::nullopt, metadata});
}
///@}

/// The options of save_safetensors_shards.
struct ShardOptions {
  /// The largest size of a file, in bytes of elements. A larger tensor gets its own file.
  std::int64_t max_shard_size = 5'000'000'000;
  std::optional<HalfType> dtype = std::nullopt;                      ///< As in SafetensorsOptions.
  std::map<std::string, std::string> metadata = {{"format", "pt"}};  ///< Saved in each file.
};

/// Writes tensors to a folder as one file or as several, as Hugging Face's save_pretrained does.
///
/// The folder gets a model.safetensors. If this file would be larger than `max_shard_size`, the
/// folder gets an index, model.safetensors.index.json, and shards instead:
/// model-00001-of-00003.safetensors and so on.
/// The shards have the tensors in the order of `tensors`. The folder must have one writer at a
/// time.
///
/// The files are written under temporary names first (NAME.tmp). Until all of them are whole, no
/// old file changes. Then the old index and the old model.safetensors are removed, the shards get
/// their names, and the index gets its name last. So an index never names missing or older files. A
/// new model.safetensors replaces the old one before the old index is removed. Old shards stay if
/// their names contain another number of shards.
///
/// Throws:
///   IoError - as save_safetensors()
///   IoError - the folder does not exist
///   Error   - max_shard_size is below 1
void save_safetensors_shards(const std::filesystem::path& folder, const StateDict& tensors,
                             const ShardOptions& options = {});

namespace safetensors {
/// A text file in the same folder as the shards.
struct FileBeside {
  std::string name, text;
};

/// Writes shards as save_safetensors_shards() does, and the file `beside`. An old file with that
/// name is removed before the first shard changes. The new file appears after all shards.
void save_shards_with(const std::filesystem::path& folder, const StateDict& tensors,
                      const ShardOptions& options, const FileBeside& beside);
}  // namespace safetensors

/// Reads all tensors of a .safetensors file, or of the files that an index names.
///
/// F32, F64, I64 and BOOL keep their dtype. F16 and BF16 become float32, integers of other sizes
/// become int64. A path that ends in ".json" is an index, such as model.safetensors.index.json. Its
/// tensors are read from the files in the same folder, and the metadata of all files is merged. To
/// read one tensor at a time, use SafetensorsFile.
///
/// The reader trusts nothing in a header or an index. Errors name the path.
///
/// Throws:
///   IoError - a file is not a regular file or cannot be read
///   IoError - a header or an index is invalid: a wrong length or size, an unknown dtype, a name
///             that is used twice, lists that nest too deep
///   IoError - the offsets of tensors overlap, leave gaps or are outside of the file
///   IoError - the index names a file in another folder, or a tensor that is not in its file
///   IoError - int64 cannot hold a U64
Safetensors load_safetensors(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace tend::nn
