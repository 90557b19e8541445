// Dropout.
#pragma once

#include <tend/nn/module/module.h>

namespace tend::nn {

/// In training, sets each element to zero with probability p and divides the others by 1 - p.
///
/// In evaluation mode it returns x unchanged (torch.nn.Dropout, Srivastava et al. 2014). The masks
/// are the same as PyTorch's.
class Dropout : public Module<Dropout> {
 public:
  /// A layer with this probability p.
  ///
  /// Throws: Error - p is not in [0, 1]
  explicit Dropout(double probability = 0.5);

  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;
  /// The probability in the present mode: p in training, 0 in evaluation.
  double active_p() const noexcept { return is_training() ? p : 0.0; }

  double p;
};

}  // namespace tend::nn
