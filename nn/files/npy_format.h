// The .npy format, for bytes from a file or from an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/array.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn::npy {

/// Returns a row-major array of the mapped elements at a position of a Source, or nullopt if the
/// elements must be read. See MappedFile::array.
using MappedElements =
    std::function<std::optional<Array>(NumberKind, std::uint64_t position, const Shape&)>;

/// Bytes that are read from the beginning to the end, and their name in errors.
struct Source {
  std::string_view operation;
  std::string name;
  std::uint64_t size;
  ReadBytes read;
  MappedElements mapped = {};  // if empty, all elements are read

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation, name, ": ", parts...);
  }
};

/// The error for a file whose dtype tend cannot read.
class UnreadDType : public IoError {
 public:
  using IoError::IoError;
};

/// True if the bytes begin as .npy files do. There must be at least six bytes.
bool has_magic(const void* bytes);

/// The part of a .npy file before the elements. Errors begin with [operation] name.
std::string header_text(std::string_view operation, const std::string& name, const Tensor& tensor);

/// Reads a tensor from the `source.size` bytes of a source. Throws the errors of load_npy(), and
/// UnreadDType for dtypes that tend cannot read, such as text and objects.
Tensor read(const Source& source);

}  // namespace tend::nn::npy
