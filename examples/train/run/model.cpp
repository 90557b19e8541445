#include "examples/train/run/model.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace train {

using tend::Tensor;

namespace {

/// The standard deviation of a weight's initial values.
double deviation(const Options& options, const std::string& name, const Tensor& weight) {
  const bool is_embedding = name.ends_with("embedding.weight");
  const bool ends_a_branch =
      name.ends_with("attention.out_proj.weight") || name.ends_with("feed_forward.down.weight");
  if (is_embedding && options.embedding_init) return *options.embedding_init;
  // The fan-in of an embedding is the width, because the layers that read its rows have this number
  // of inputs.
  const double std = options.init.value_or(1.0 / std::sqrt(static_cast<double>(weight.size(1))));
  // Each layer adds two branches to the residual stream.
  return ends_a_branch ? std / std::sqrt(2.0 * static_cast<double>(options.layers)) : std;
}

}  // namespace

Model make_model(const Options& options, const Task& task) {
  tend::attention::GPTConfig config;
  config.vocab_size = static_cast<std::int64_t>(task.labels.size());
  config.context_length = static_cast<std::int64_t>(task.context());
  config.width = static_cast<std::int64_t>(options.width);
  config.num_heads = static_cast<std::int64_t>(options.heads);
  config.num_layers = static_cast<std::int64_t>(options.layers);
  config.dropout = options.dropout;
  Model model(config);
  for (const auto& [name, parameter] : model.named_parameters()) {
    if (parameter.dim() >= 2) {
      tend::nn::init::normal_(parameter, 0.0, deviation(options, name, parameter));
    } else if (name.ends_with("bias")) {
      tend::nn::init::constant_(parameter, 0.0);
    }
  }
  return model;
}

tend::optim::AdamW make_optimizer(const Options& options, const Model& model) {
  std::vector<Tensor> matrices;
  std::vector<Tensor> vectors;
  for (const Tensor& parameter : model.parameters()) {
    (parameter.dim() >= 2 ? matrices : vectors).push_back(parameter);
  }
  tend::optim::AdamW::Options adamw;
  adamw.lr = options.rate;
  adamw.betas = {options.beta1, options.beta2};
  adamw.weight_decay = options.weight_decay;
  tend::optim::AdamW optimizer(matrices, adamw);
  adamw.weight_decay = 0.0;
  optimizer.add_group(vectors, adamw);
  return optimizer;
}

Tensor token_tensor(const Tokens& tokens, std::size_t size, std::size_t length) {
  const tend::Shape shape{static_cast<std::int64_t>(size), static_cast<std::int64_t>(length)};
  return Tensor(tend::Array::from<std::int64_t>(tokens, shape));
}

Tensor answer_loss(const Tensor& logits, const Batch& batch) {
  const Tensor targets = token_tensor(batch.targets, batch.size, batch.length);
  return tend::cross_entropy(logits.flatten(0, 1), targets.flatten(), {.ignore_index = kNoTarget});
}

Tokens most_likely(const Tensor& logits) {
  return tend::argmax(logits, -1).to_vector<std::int64_t>();
}

}  // namespace train
