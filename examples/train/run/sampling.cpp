#include "examples/train/run/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "examples/train/page/format.h"

namespace train {

std::string describe(const Sampling& sampling) {
  if (sampling.temperature == 0) return "greedily";
  std::string text = "at temperature " + shortest(sampling.temperature);
  if (sampling.top_k) text += " from the " + std::to_string(*sampling.top_k) + " likeliest bytes";
  return text;
}

std::int64_t draw_token(std::span<const float> logits, const Sampling& sampling, Random& random) {
  std::vector<std::size_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), std::size_t{0});
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (sampling.top_k) tokens.resize(std::min<std::size_t>(tokens.size(), *sampling.top_k));
  if (sampling.temperature == 0) return static_cast<std::int64_t>(tokens.front());
  const auto best = static_cast<double>(logits[tokens.front()]);
  std::vector<double> sums;
  double sum = 0;
  for (const std::size_t token : tokens) {
    sum += std::exp((static_cast<double>(logits[token]) - best) / sampling.temperature);
    sums.push_back(sum);
  }
  constexpr std::uint64_t kParts = std::uint64_t{1} << 53;
  const double mark = sum * static_cast<double>(random.below(kParts)) / static_cast<double>(kParts);
  const auto chosen = std::upper_bound(sums.begin(), sums.end() - 1, mark) - sums.begin();
  return static_cast<std::int64_t>(tokens[static_cast<std::size_t>(chosen)]);
}

}  // namespace train
