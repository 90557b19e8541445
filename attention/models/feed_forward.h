// The feed-forward network of a block.
#pragma once

#include <tend/attention/models/config.h>
#include <tend/nn/layers/activation.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

/// The feed-forward network of a block: width -> hidden -> width, with the nonlinearity that
/// FeedForwardKind says. A gated network has gate and up in one matrix, `up`, whose first `hidden`
/// rows are the gate. A network of kind `none` has no parameters, and blocks do not call it.
class FeedForward : public nn::Module<FeedForward> {
 public:
  /// A network width -> 4 width -> width with a GELU.
  ///
  /// Throws: ShapeError - the width is below 1
  explicit FeedForward(std::int64_t width, GeluKind gelu = GeluKind::exact);
  /// The network of a block. Throws the errors of checked_block.
  explicit FeedForward(const GPTConfig& config);

  /// x is (..., width), and so is the result.
  ///
  /// Throws: Error - the kind is `none`
  Tensor forward(const Tensor& x) const;

  FeedForwardKind kind;
  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::GELU, activation);  // used by the kinds gelu and geglu
  TEND_MODULE(nn::Linear, down);
};

}  // namespace tend::attention
