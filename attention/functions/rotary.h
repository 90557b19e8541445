// Rotary positions: queries and keys are rotated by angles that grow with their positions. Their
// dot products then depend only on the distance of the positions.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// How angles are reduced for sequences that are longer than in training.
///
/// The method is Llama 3.1's (https://arxiv.org/abs/2407.21783). It depends on how many full turns
/// a pair of dimensions makes within original_context tokens:
/// - fewer than low_frequency turns: the pair turns `factor` times more slowly;
/// - at least high_frequency turns: the pair turns as before;
/// - in between: the slowdown is interpolated.
struct RotaryScaling {
  double factor = 1.0;
  double low_frequency = 1.0;
  double high_frequency = 4.0;
  /// If 0, all pairs turn `factor` times more slowly (Chen et al. 2023,
  /// https://arxiv.org/abs/2306.15595).
  std::int64_t original_context = 0;
};

/// The options of rotary().
struct RotaryOptions {
  /// The angle of pair i at position p is p theta^(-2i / dims).
  double theta = 10000.0;
  /// Rotates only the first `dims` dimensions of each head. Must be even. The default is all
  /// dimensions.
  std::optional<std::int64_t> dims = {};
  /// If true, pair i is dimensions (2i, 2i + 1), as in GPT-J. Otherwise it is (i, i + dims / 2), as
  /// in Llama and GPT-NeoX.
  Flag interleaved = false;
  RotaryScaling scaling = {};
};

/// Rotates each pair (a, b) of a query or key by the angle of its position: (a cos - b sin,
/// b cos + a sin).
///
/// x is (..., T, D), floating, with heads already split; so is the result. positions is (T), or
/// broadcasts to (..., T). It is int64 or floating and gets no gradient. The angles are computed in
/// float64. The gradient of x is the gradient of the result, rotated back.
///
/// Throws:
///   ShapeError - x has fewer than two dimensions, or positions do not broadcast to (..., T)
///   ShapeError - dims is odd, below 2 or above D
///   DTypeError - x is not floating, or positions are bool
///   Error      - theta or scaling.factor is not positive and finite
///   Error      - scaling.original_context is negative
///   Error      - original_context is above 0, but low_frequency is not below high_frequency, or
///                one of the two is not finite
///
/// Su et al. 2021, https://arxiv.org/abs/2104.09864.
Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options = {});

}  // namespace tend::attention
