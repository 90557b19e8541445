// The rows about whole modules and training steps, in tend.

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "../inputs.h"
#include "tend.h"

#include "same_works.h"

namespace compare {

void set_parameters(tend::nn::ModuleBase& module, std::uint64_t seed) {
  for (const auto& [name, parameter] : module.named_parameters()) {
    const std::int64_t rows = parameter.dim() == 2 ? parameter.size(0) : 1;
    const std::vector<float> values = parameter_values(seed, name, rows, parameter.numel() / rows);
    std::copy(values.begin(), values.end(), parameter.data_ptr<float>());
  }
}

namespace {

tend::attention::GPTConfig config_of(const Work& w) {
  tend::attention::GPTConfig config;
  config.vocab_size = w[0];
  config.context_length = w[1];
  config.width = w[2];
  config.num_layers = w[3];
  config.num_heads = w[4];
  return config;
}

/// A model, its data and its optimizer.
struct Training {
  Training(const tend::attention::GPTConfig& config, std::int64_t batch, std::uint64_t seed)
      : model(config),
        tokens(random_text(seed, batch, config.context_length, config.vocab_size)),
        targets(random_text(seed + 1, batch, config.context_length, config.vocab_size)) {
    set_parameters(model, seed);
    optimizer = std::make_unique<tend::optim::AdamW>(model.parameters());
  }

  Tensor step() {
    optimizer->zero_grad();
    Tensor loss = cross_entropy(model(tokens).flatten(0, 1), targets.flatten());
    loss.backward();
    optimizer->step();
    return loss;
  }

  std::map<std::string, Tensor> parameters_by_name() const {
    std::map<std::string, Tensor> parameters;
    for (const auto& [name, parameter] : model.named_parameters()) parameters[name] = parameter;
    return parameters;
  }

  tend::attention::GPT model;
  Tensor tokens;
  Tensor targets;
  std::unique_ptr<tend::optim::AdamW> optimizer;
};

}  // namespace

Module causal_attention(const Work& w, std::uint64_t seed) {
  const auto attention =
      std::make_shared<tend::attention::MultiHeadAttention>(w[2], w[3], w[1], 0.0, w[4]);
  set_parameters(*attention, seed);
  return {[attention](const Tensor& x) { return (*attention)(x); }, attention->parameters()};
}

Task training_step(const Work& w, std::uint64_t seed) {
  return training_task(std::make_shared<Training>(config_of(w), w[5], seed));
}

Task lens_run(const Work& w, std::uint64_t seed) {
  const auto training = std::make_shared<Training>(config_of(w), w[5], seed);
  if (w.operation == "lens_head") {
    return lens_task([training] {
      const auto [logits, cache] =
          tend::lens::run_with_cache(training->model, training->tokens,
                                     {.names = {"blocks.0.attn.hook_pattern"}, .heads = {0}});
      return std::vector{logits, cache["blocks.0.attn.hook_pattern"]};
    });
  }
  return lens_task([training, layers = w[3]] {
    const auto [logits, cache] = tend::lens::run_with_cache(training->model, training->tokens);
    std::vector results{logits};
    for (std::int64_t i = 0; i < layers; ++i)
      results.push_back(cache["blocks." + std::to_string(i) + ".attn.hook_pattern"]);
    return results;
  });
}

}  // namespace compare
