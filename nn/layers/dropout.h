// Dropout.
#pragma once

#include <tend/nn/module/module.h>

namespace tend::nn {

/// In training each element becomes zero with probability p, and the others are divided by 1 - p;
/// in evaluation nothing happens (torch.nn.Dropout, Srivastava et al. 2014). The masks are
/// PyTorch's.
class Dropout : public Module<Dropout> {
 public:
  /// Error unless 0 <= p <= 1.
  explicit Dropout(double probability = 0.5);

  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;
  /// The probability in force: 0 in evaluation.
  double active_p() const noexcept { return is_training() ? p : 0.0; }

  double p;
};

}  // namespace tend::nn
