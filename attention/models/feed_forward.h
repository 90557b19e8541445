// The feed-forward network of a block.
#pragma once

#include <tend/attention/models/config.h>
#include <tend/nn/layers/activation.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

/// width -> hidden -> width, with what FeedForwardKind says between. A gated one keeps gate and up
/// in one matrix, `up`: its first `hidden` rows are the gate's. That of kind `none` has no
/// parameters, and is not called by blocks.
class FeedForward : public nn::Module<FeedForward> {
 public:
  /// width -> 4 width -> width, with GELU between. ShapeError for a width below 1.
  explicit FeedForward(std::int64_t width, GeluKind gelu = GeluKind::exact);
  /// That of a block. Errors of checked_block.
  explicit FeedForward(const GPTConfig& config);

  /// (..., width), shape kept.
  Tensor forward(const Tensor& x) const;

  FeedForwardKind kind;
  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::GELU, activation);  // called by the kinds with GELU
  TEND_MODULE(nn::Linear, down);
};

}  // namespace tend::attention
