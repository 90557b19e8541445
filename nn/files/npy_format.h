// The .npy format, wherever its bytes come from.
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

/// A row-major array of the elements at this position of a Source, which stay where they are;
/// nothing where they must be read. See MappedFile::array.
using MappedElements =
    std::function<std::optional<Array>(NumberKind, std::uint64_t position, const Shape&)>;

/// Bytes that are read from the front to the end, and what errors call them.
struct Source {
  std::string_view operation;
  std::string name;
  std::uint64_t size;
  ReadBytes read;
  MappedElements mapped = {};  // empty: all elements are read

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation, name, ": ", parts...);
  }
};

/// The error of a file whose elements are no numbers of tend's.
class UnreadDType : public IoError {
 public:
  using IoError::IoError;
};

/// Whether these bytes, six or more, begin as .npy files do.
bool has_magic(const void* bytes);

/// All that is before the elements. Errors begin with [operation] name.
std::string header_text(std::string_view operation, const std::string& name, const Tensor& tensor);

/// Reads `source.size` bytes; errors as load_npy says. UnreadDType for text, objects and others.
Tensor read(const Source& source);

}  // namespace tend::nn::npy
