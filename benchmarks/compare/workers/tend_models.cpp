// The rows about whole modules and training steps, in tend.

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "../inputs.h"
#include "tend.h"

#include "same_works.h"

namespace compare {

using tend::Array;

void set_parameters(tend::nn::ModuleBase& module, std::uint64_t seed) {
  for (const auto& [name, parameter] : module.named_parameters()) {
    const std::int64_t rows = parameter.dim() == 2 ? parameter.size(0) : 1;
    const std::vector<float> values = parameter_values(seed, name, rows, parameter.numel() / rows);
    std::copy(values.begin(), values.end(), parameter.data_ptr<float>());
  }
}

namespace {

std::shared_ptr<tend::attention::MultiHeadAttention> make_attention(const Work& w,
                                                                    std::uint64_t seed) {
  auto attention =
      std::make_shared<tend::attention::MultiHeadAttention>(w[2], w[3], w[1], 0.0, w[4]);
  set_parameters(*attention, seed);
  return attention;
}

Tensor random_batch(std::uint64_t seed, std::int64_t batch, std::int64_t length,
                    std::int64_t vocabulary) {
  return Tensor(
      Array::from<std::int64_t>(random_tokens(seed, batch * length, vocabulary), {batch, length}));
}

/// A model, its data and its optimizer.
struct Training {
  Training(const tend::attention::GPTConfig& config, std::int64_t batch, std::uint64_t seed)
      : model(config),
        tokens(random_batch(seed, batch, config.context_length, config.vocab_size)),
        targets(random_batch(seed + 1, batch, config.context_length, config.vocab_size)) {
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

  tend::attention::GPT model;
  Tensor tokens;
  Tensor targets;
  std::unique_ptr<tend::optim::AdamW> optimizer;
};

}  // namespace

Task attention_forward(const Work& w, std::uint64_t seed) {
  const auto attention = make_attention(w, seed);
  const Tensor x = random_tensor(seed, {w[0], w[1], w[2]});
  return {[attention, x](std::int64_t count) {
            const tend::InferenceModeGuard guard;
            for (std::int64_t i = 0; i < count; ++i) (*attention)(x);
          },
          [attention, x](Result& result) {
            const tend::InferenceModeGuard guard;
            add_tensor(result, (*attention)(x));
          }};
}

Task attention_backward(const Work& w, std::uint64_t seed) {
  const auto attention = make_attention(w, seed);
  const std::vector<Tensor> parameters = attention->parameters();
  const Tensor x = random_tensor(seed, {w[0], w[1], w[2]});
  const Tensor cotangent = random_tensor(seed + 1, {w[0], w[1], w[3]});
  const auto both = [attention, parameters, x, cotangent] {
    for (Tensor parameter : parameters) parameter.zero_grad();
    Tensor out = (*attention)(x);
    out.backward(cotangent);
    return out;
  };
  return make_task(both, [both, parameters](Result& result) {
    add_tensor(result, both());
    for (const Tensor& parameter : parameters) add_tensor(result, parameter.grad());
  });
}

Task training_step(const Work& w, std::uint64_t seed) {
  tend::attention::GPTConfig config;
  config.vocab_size = w[0];
  config.context_length = w[1];
  config.width = w[2];
  config.num_layers = w[3];
  config.num_heads = w[4];
  const auto training = std::make_shared<Training>(config, w[5], seed);
  return make_task([training] { training->step(); },
                   [training](Result& result) {
                     add_tensor(result, training->step());
                     std::map<std::string, Tensor> parameters;
                     for (const auto& [name, parameter] : training->model.named_parameters())
                       parameters[name] = parameter;
                     for (const auto& [name, parameter] : parameters)
                       if (is_checked(name)) add_tensor(result, parameter.grad());
                     for (int i = 0; i < 2; ++i) add_tensor(result, training->step());
                   });
}

}  // namespace compare
