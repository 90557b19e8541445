// Tensors of safetensors files, one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/files/load_options.h>

namespace tend::nn {

/// A tensor in a file.
struct SafetensorsEntry {
  std::string name;
  std::string stored;  ///< the dtype that the file has: "BF16"
  DType dtype;         ///< the dtype that it is read as: float32
  Shape shape;
};

/// A .safetensors file, or the files of an index, as Python's safe_open has them: headers are read
/// and checked when it is opened, elements when they are asked for, by several threads if need be.
/// A copy has the same files.
class SafetensorsFile {
 public:
  /// Paths and errors are load_safetensors's.
  explicit SafetensorsFile(const std::filesystem::path& path, const LoadOptions& options = {});

  /// All tensors in the order of their bytes; those of several files in the order of the files'
  /// names.
  const std::vector<SafetensorsEntry>& entries() const noexcept;
  const std::map<std::string, std::string>& metadata() const noexcept;
  bool contains(std::string_view name) const noexcept;

  /// The tensor of that name: one of its own each time, but for elements that stay in the file.
  /// IndexError for a name that is not here; IoError when the file cannot be read any more,
  /// and for a U64 that int64 cannot hold.
  Tensor load(std::string_view name) const;

 private:
  class Files;
  std::shared_ptr<const Files> files_;
};

}  // namespace tend::nn
