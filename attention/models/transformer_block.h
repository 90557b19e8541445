// The block that a GPT repeats.
#pragma once

#include <tend/attention/models/feed_forward.h>
#include <tend/attention/models/grouped_query_attention.h>

namespace tend::attention {

/// A pre-norm transformer block: x + attention(norm(x)), then x + feed_forward(norm(x)). The form
/// is GPT-2's (Radford et al. 2019). With FeedForwardKind::none it is the first half only, and
/// norm2 has no parameters.
class TransformerBlock : public nn::Module<TransformerBlock> {
 public:
  /// Throws the errors of checked_block.
  explicit TransformerBlock(const GPTConfig& config);

  /// x is (..., T, width), and so is the result.
  ///
  /// Throws: ShapeError - T exceeds context_length
  Tensor forward(const Tensor& x) const;
  Tensor forward(const Tensor& x, const TokenPlaces& places) const;
  /// Returns the result of forward in `context`, and the attention weights (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;
  AttentionOutput with_weights(const Tensor& x, const TokenPlaces& places) const;

  TEND_MODULE(Norm, norm1);
  TEND_MODULE(GroupedQueryAttention, attention);
  TEND_MODULE(Norm, norm2);
  TEND_MODULE(FeedForward, feed_forward);
  TEND_MODULE(nn::Dropout, dropout);

 private:
  Tensor add_residuals(const Tensor& x, const Tensor& attended) const;
};

}  // namespace tend::attention
