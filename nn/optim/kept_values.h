// What tensors hold, to be put back.
#pragma once

#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::optim::detail {

/// The elements that tensors have now, and where. ShapeError and AutogradError for a tensor that
/// may not be written; names `operation`, which must live forever.
class KeptValues {
 public:
  KeptValues(const char* operation, const std::vector<Tensor>& tensors);

  /// Puts the elements back, converted where a tensor got another dtype meanwhile; one that got
  /// another shape, or elements that overlap, stays. Needs no memory and does not fail.
  void restore() const noexcept;

 private:
  const char* operation_;
  std::vector<std::pair<Tensor, Array>> values_;  // what the elements were
};

}  // namespace tend::optim::detail
