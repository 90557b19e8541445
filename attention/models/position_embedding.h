// Vectors of positions, which are added to the embeddings of tokens.
#pragma once

#include <string>

#include <tend/attention/models/config.h>
#include <tend/nn/module/module.h>

namespace tend::attention {

/// The position vectors of Vaswani et al. 2017: elements 2i and 2i + 1 are the sine and the cosine
/// of position / 10000^(2i / width).
///
/// positions is (...), int64 or floating. The result is (..., width) in `dtype`, computed in
/// float64, without a gradient.
///
/// Throws:
///   ShapeError - the width is below 1
///   DTypeError - positions are bool, or `dtype` is not floating
///
/// https://arxiv.org/abs/1706.03762, section 3.5.
Tensor sinusoidal_positions(const Tensor& positions, std::int64_t width, DType dtype = float32);

/// A vector for each position below context_length, for the kinds learned and sinusoidal. Learned
/// vectors are the weight (context_length, width), drawn from N(0, 1) as in nn::Embedding.
/// Sinusoidal vectors come from sinusoidal_positions. Other kinds have no vectors.
class PositionEmbedding : public nn::Module<PositionEmbedding> {
 public:
  /// `length` is the context_length, `size` the width.
  ///
  /// Throws: ShapeError - a size is negative
  PositionEmbedding(PositionKind positions, std::int64_t length, std::int64_t size);

  /// The vectors of int64 positions (...): (..., width).
  ///
  /// Throws:
  ///   IndexError - a position is outside of the context_length
  ///   DTypeError - positions are not int64
  ///   Error      - the kind has no vectors
  Tensor forward(const Tensor& positions) const;
  /// The vectors of the positions first, first + 1, ...: (count, width).
  Tensor range(std::int64_t first, std::int64_t count) const;
  std::string extra_repr() const override;

  /// True if the kind has vectors.
  bool is_added() const noexcept {
    return kind == PositionKind::learned || kind == PositionKind::sinusoidal;
  }

  PositionKind kind;
  std::int64_t context_length;
  std::int64_t width;
  TEND_PARAMETER(weight);
};

}  // namespace tend::attention
