// The rows about generation, in tend.

#include <memory>
#include <vector>

#include "../inputs.h"
#include "tend.h"

namespace compare {

using tend::Array;
using tend::Tensor;

namespace {

tend::attention::GPTConfig gpt2_parts(const Work& w) {
  tend::attention::GPTConfig config;
  config.vocab_size = w[0];
  config.context_length = w[1];
  config.width = w[2];
  config.num_layers = w[3];
  config.num_heads = w[4];
  config.tied_head = w[5] != 0;
  config.qkv_bias = true;
  config.gelu = tend::GeluKind::tanh;
  return config;
}

/// A model, a prompt, and a cache with room for one token more.
struct Generation {
  Generation(const Work& w, std::uint64_t seed)
      : model(gpt2_parts(w)),
        prompt(Array::from<std::int64_t>(random_tokens(seed, w[6], w[0]), {1, w[6]})),
        next(Array::from<std::int64_t>(random_tokens(seed + 1, 1, w[0]), {1, 1})),
        cache({.capacity = w[6] + 1}) {
    set_parameters(model, seed);
    model.eval();
  }

  Tensor read_prompt() {
    cache.reset();
    return model(prompt, {.cache = &cache, .last_only = true});
  }

  /// The step that follows the prompt, every time.
  Tensor decode() {
    if (cache.length() == 0) read_prompt();
    Tensor logits = model(next, {.cache = &cache});
    cache.truncate(cache.length() - 1);
    return logits;
  }

  tend::attention::GPT model;
  Tensor prompt, next;
  tend::attention::KVCache cache;
};

}  // namespace

Task generation(const Work& w, std::uint64_t seed) {
  const auto made = std::make_shared<Generation>(w, seed);
  if (w.operation == "generate_prompt") return forward_task([made] { return made->read_prompt(); });
  return forward_task([made] { return made->decode(); });
}

}  // namespace compare
