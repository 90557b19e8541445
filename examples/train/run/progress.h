#pragma once

#include <cstdint>
#include <string>

namespace train {

/// Where a training stands.
struct Standing {
  std::uint64_t step;
  std::uint64_t steps;
  double loss;
  double held_out_loss;
  double exact_match;
  double tokens_per_second;
  double seconds_left;
};

/// What matters most comes first, for a narrow terminal shows no more.
std::string progress_line(const Standing& standing);

}  // namespace train
