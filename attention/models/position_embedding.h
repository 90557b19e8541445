// Vectors of positions, to be added to those of tokens.
#pragma once

#include <string>

#include <tend/attention/models/config.h>
#include <tend/nn/module/module.h>

namespace tend::attention {

/// The vectors of Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762), section 3.5, for int64 or
/// floating positions (...): (..., width), computed in float64 and given in `dtype`. Numbers 2i and
/// 2i + 1 are the sine and the cosine of position / 10000^(2i / width). No gradient. ShapeError for
/// a width below 1, DTypeError for bool positions and unless dtype is floating.
Tensor sinusoidal_positions(const Tensor& positions, std::int64_t width, DType dtype = float32);

/// A vector for each position below context_length: learned ones, weight (context_length, width),
/// drawn from N(0, 1) as nn::Embedding's, or sinusoidal_positions. Of the other kinds there are
/// none, and its call is an Error.
class PositionEmbedding : public nn::Module<PositionEmbedding> {
 public:
  /// Of positions below `length`, vectors of `size` numbers. ShapeError for negative sizes.
  PositionEmbedding(PositionKind positions, std::int64_t length, std::int64_t size);

  /// int64 positions (...) -> (..., width); IndexError outside of the context_length.
  Tensor forward(const Tensor& positions) const;
  /// Those of the positions first, first + 1, ...: (count, width).
  Tensor range(std::int64_t first, std::int64_t count) const;
  std::string extra_repr() const override;

  /// Whether there are vectors.
  bool is_added() const noexcept {
    return kind == PositionKind::learned || kind == PositionKind::sinusoidal;
  }

  PositionKind kind;
  std::int64_t context_length;
  std::int64_t width;
  TEND_PARAMETER(weight);
};

}  // namespace tend::attention
