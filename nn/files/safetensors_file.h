// Reads the tensors of .safetensors files one at a time.
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
  std::string stored;  ///< The dtype in the file, such as "BF16".
  DType dtype;         ///< The dtype of the tensor that is read, such as float32.
  Shape shape;
};

/// An open .safetensors file, or the open files of an index. It corresponds to Python's safe_open.
///
/// The constructor reads and checks the headers. load() reads elements; several threads may call
/// it. A copy refers to the same open files.
class SafetensorsFile {
 public:
  /// Accepts the paths of load_safetensors(), and throws its errors.
  explicit SafetensorsFile(const std::filesystem::path& path, const LoadOptions& options = {});

  /// All tensors, in the order of their bytes. If there are several files, the files follow each
  /// other in the order of their names.
  const std::vector<SafetensorsEntry>& entries() const noexcept;
  const std::map<std::string, std::string>& metadata() const noexcept;
  bool contains(std::string_view name) const noexcept;

  /// Reads the tensor of that name. Each call returns a new tensor. With mmap, its elements may
  /// stay in the file.
  ///
  /// Throws:
  ///   IndexError - there is no tensor of that name
  ///   IoError    - the file can no longer be read
  ///   IoError    - int64 cannot hold a U64
  Tensor load(std::string_view name) const;

 private:
  class Files;
  std::shared_ptr<const Files> files_;
};

}  // namespace tend::nn
