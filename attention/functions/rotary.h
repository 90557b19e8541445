// Rotary positions: queries and keys are rotated by angles that grow with their positions, so that
// their products depend on distances.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// How angles are made smaller for sequences that are longer than those in training. Those of Llama
/// 3.1, https://arxiv.org/abs/2407.21783: a pair that turns less than once in
/// original_context / low_frequency tokens turns `factor` times more slowly, one that turns once in
/// original_context / high_frequency tokens or more often as before, those between somewhat more
/// slowly.
struct RotaryScaling {
  double factor = 1.0;
  double low_frequency = 1.0;
  double high_frequency = 4.0;
  /// 0: all pairs turn `factor` times more slowly (Chen et al. 2023,
  /// https://arxiv.org/abs/2306.15595).
  std::int64_t original_context = 0;
};

/// How positions rotate queries and keys.
struct RotaryOptions {
  /// The angle of pair i at position p is p theta^(-2i / dims).
  double theta = 10000.0;
  /// How many of a head's first numbers are rotated, an even number; all unless given.
  std::optional<std::int64_t> dims = {};
  /// Whether pairs are neighbours (2i, 2i + 1), as in GPT-J, instead of (i, i + dims / 2), as in
  /// Llama and GPT-NeoX.
  Flag interleaved = false;
  RotaryScaling scaling = {};
};

/// x (..., T, D), a query or a key split into heads, with each pair (a, b) of a row rotated by its
/// angle: (a cos - b sin, b cos + a sin). positions (T), or what broadcasts to (..., T), are int64
/// or floating and get no gradient; the angles are computed in float64. The gradient is rotated
/// back. ShapeError where positions do not fit, or dims is odd or not between 2 and D; DTypeError
/// unless x is floating and positions are numbers; Error unless theta and the factor are positive
/// and finite, original_context at least 0 and, where it is above 0, low_frequency below
/// high_frequency, both finite. Su et al. 2021, https://arxiv.org/abs/2104.09864.
Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options = {});

}  // namespace tend::attention
