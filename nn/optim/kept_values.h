// What tensors hold, to be put back.
#pragma once

#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

#pragma GCC visibility push(default)

namespace tend::optim::detail {

/// The elements that tensors have now, and where. ShapeError and AutogradError for a tensor that
/// may not be written; names `operation`, which must live forever.
class KeptValues {
 public:
  KeptValues(const char* operation, const std::vector<Tensor>& tensors);

  /// Puts the elements back where they were. Needs no memory.
  void restore() const;

 private:
  const char* operation_;
  std::vector<std::pair<Array, Array>> values_;  // a tensor's own elements, and what they were
};

}  // namespace tend::optim::detail

#pragma GCC visibility pop
