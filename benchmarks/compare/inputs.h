// The inputs of every worker. Each number depends only on a seed and a position, so all workers
// compute the same inputs without exchanging them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace compare {

/// A number in [-1, 1): splitmix64 (Steele, Lea and Flood 2014) of the seed and the position.
inline float random_value(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (position + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<float>(z >> 40) * 0x1p-23F - 1.0F;
}

inline std::vector<float> random_values(std::uint64_t seed, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_value(seed, i);
  return values;
}

/// Random integers in [0, bound).
inline std::vector<std::int64_t> random_tokens(std::uint64_t seed, std::int64_t count,
                                               std::int64_t bound) {
  std::vector<std::int64_t> tokens;
  for (float value : random_values(seed, count)) {
    tokens.push_back(static_cast<std::int64_t>((value + 1.0F) / 2.0F * static_cast<float>(bound)));
  }
  return tokens;
}

/// True if the gradient of this parameter is compared after a training step. Only the first block
/// is compared.
inline bool is_checked(std::string_view name) {
  return !name.starts_with("blocks.") || name.starts_with("blocks.0.");
}

/// The values of a model's parameter, which depend on its name and the seed.
///
/// Matrices are uniform within 1 / sqrt(columns), as in torch.nn.Linear. Weights of norms are near
/// 1, biases near 0.
inline std::vector<float> parameter_values(std::uint64_t seed, std::string_view name,
                                           std::int64_t rows, std::int64_t columns) {
  for (char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;  // FNV-1a
  std::vector<float> values = random_values(seed, rows * columns);
  const bool is_matrix = rows > 1;
  const float scale = is_matrix ? 1.0F / std::sqrt(static_cast<float>(columns)) : 0.1F;
  const float middle = !is_matrix && name.ends_with("weight") ? 1.0F : 0.0F;
  for (float& value : values) value = middle + scale * value;
  return values;
}

}  // namespace compare
