// The .npy format, wherever its bytes come from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tend/autograd/tensor/tensor.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/numbers.h>

#pragma GCC visibility push(default)

namespace tend::nn::npy {

/// Bytes that are read from the front to the end, and what errors call them.
struct Source {
  std::string_view operation;
  std::string name;
  std::uint64_t size;
  ReadBytes read;
  const MappedFile* mapping = nullptr;  // of the same bytes, where elements are to stay there

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>(operation, name, ": ", parts...);
  }
};

/// All that stands before the elements. Errors begin with [operation] name.
std::string header_text(std::string_view operation, const std::string& name, const Tensor& tensor);

/// Reads `source.size` bytes; errors as load_npy says.
Tensor read(const Source& source);

}  // namespace tend::nn::npy

#pragma GCC visibility pop
