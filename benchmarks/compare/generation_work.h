// The rows about generation: the sizes of a GPT and of its prompt.
#pragma once

#include <cstdint>
#include <vector>

#include "worker.h"

namespace compare {

/// The sizes of a GPT with GPT-2's parts and of its prompt, in the order of a Work's sizes.
struct GenerationWork {
  std::int64_t vocabulary = 1;
  std::int64_t context = 1;
  std::int64_t width = 1;
  std::int64_t layers = 1;
  std::int64_t heads = 1;
  bool has_tied_head = false;
  std::int64_t prompt = 1;
};

inline GenerationWork generation_work(const Work& w) {
  return {w[0], w[1], w[2], w[3], w[4], w[5] != 0, w[6]};
}

inline std::vector<std::int64_t> sizes_of(const GenerationWork& w) {
  return {w.vocabulary, w.context, w.width,
          w.layers,     w.heads,   static_cast<std::int64_t>(w.has_tied_head),
          w.prompt};
}

}  // namespace compare
