// The training step of a GPT whose sizes a command line gives.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <tend/tend.h>

#include "examples/program.h"

namespace tend::benchmarks {

/// By default the larger of the two steps that `compare` times.
struct GPTStep {
  std::int64_t vocabulary = 65, tokens = 256, width = 384, layers = 6, heads = 6, batch = 4;
  std::uint64_t seed = 1;
  std::string json;

  void add_to(program::CommandLine& line) {
    constexpr std::uint64_t kMost = 1 << 20;
    line.add_whole("vocabulary", vocabulary, "Tokens that there are (65)", 1, kMost);
    line.add_whole("tokens", tokens, "Of a sequence (256)", 1, kMost);
    line.add_whole("width", width, "(384)", 1, kMost);
    line.add_whole("layers", layers, "(6)", 1, kMost);
    line.add_whole("heads", heads, "Of each layer (6)", 1, kMost);
    line.add_whole("batch", batch, "Sequences (4)", 1, kMost);
    line.add_whole("--seed", seed, "Of weights and tokens (1)");
    line.add_json(json);
  }
  /// Throws std::invalid_argument where the heads do not share the width.
  attention::GPT model() const {
    if (width % heads != 0) throw std::invalid_argument("width must be a multiple of heads");
    return attention::GPT({.vocab_size = vocabulary,
                           .context_length = tokens,
                           .width = width,
                           .num_heads = heads,
                           .num_layers = layers});
  }
  Tensor inputs() const { return randint(vocabulary, {batch, tokens}); }
};

}  // namespace tend::benchmarks
