// The rows about generation, in tend.

#include <memory>

#include "../generation_work.h"
#include "../inputs.h"
#include "tend.h"

#include "same_works.h"

namespace compare {

namespace {

tend::attention::GPTConfig gpt2_parts(const GenerationWork& w) {
  tend::attention::GPTConfig config;
  config.vocab_size = w.vocabulary;
  config.context_length = w.context;
  config.width = w.width;
  config.num_layers = w.layers;
  config.num_heads = w.heads;
  config.tied_head = w.has_tied_head;
  config.qkv_bias = true;
  config.gelu = tend::GeluKind::tanh;
  return config;
}

/// A model, a prompt, and a cache with room for the prompt and one more token.
struct Generation {
  Generation(const GenerationWork& w, std::uint64_t seed)
      : model(gpt2_parts(w)),
        prompt(random_text(seed, 1, w.prompt, w.vocabulary)),
        next(random_text(seed + 1, 1, 1, w.vocabulary)),
        cache({.capacity = w.prompt + 1}) {
    set_parameters(model, seed);
    model.eval();
  }

  Tensor read_prompt() {
    cache.reset();
    return model(prompt, {.cache = &cache, .last_only = true});
  }

  /// Decodes the token after the prompt. Each call does the same step, since the cache is reset.
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
  const auto made = std::make_shared<Generation>(generation_work(w), seed);
  if (w.operation == "generate_prompt") return forward_task([made] { return made->read_prompt(); });
  return forward_task([made] { return made->decode(); });
}

}  // namespace compare
