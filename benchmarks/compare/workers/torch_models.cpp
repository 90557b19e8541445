// The rows about whole modules and training steps, in libtorch: plain functions on tensors, with
// fused attention where the version has it.

#include <torch/optim/adamw.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../inputs.h"
#include "torch.h"
#include "torch_parameters.h"

#include "same_works.h"

namespace compare {

namespace {

struct Attention {
  Attention(Parameters& p, const std::string& prefix, std::int64_t d_in, std::int64_t d_out,
            std::int64_t heads)
      : num_heads(heads),
        query(p.matrix(prefix + "W_query.weight", d_out, d_in)),
        key(p.matrix(prefix + "W_key.weight", d_out, d_in)),
        value(p.matrix(prefix + "W_value.weight", d_out, d_in)),
        out(p.matrix(prefix + "out_proj.weight", d_out, d_out)),
        out_bias(p.vector(prefix + "out_proj.bias", d_out)) {}

  Tensor operator()(const Tensor& x) const {
    const auto split = [&](const Tensor& weight) {
      return at::linear(x, weight)
          .view({x.size(0), x.size(1), num_heads, weight.size(0) / num_heads})
          .transpose(1, 2);
    };
    const Tensor context = attend(split(query), split(key), split(value), {}, true);
    return at::linear(context.transpose(1, 2).flatten(2), out, out_bias);
  }

  std::int64_t num_heads;
  Tensor query, key, value, out, out_bias;
};

struct Block {
  Block(Parameters& p, const std::string& prefix, std::int64_t width, std::int64_t heads)
      : norm1(p, prefix + "norm1.", width),
        attention(p, prefix + "attention.", width, width, heads),
        norm2(p, prefix + "norm2.", width),
        up(p.matrix(prefix + "feed_forward.up.weight", 4 * width, width)),
        up_bias(p.vector(prefix + "feed_forward.up.bias", 4 * width)),
        down(p.matrix(prefix + "feed_forward.down.weight", width, 4 * width)),
        down_bias(p.vector(prefix + "feed_forward.down.bias", width)) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor middle = x + attention(norm1(x));
    const Tensor hidden = at::gelu(at::linear(norm2(middle), up, up_bias));
    return middle + at::linear(hidden, down, down_bias);
  }

  Norm norm1;
  Attention attention;
  Norm norm2;
  Tensor up, up_bias, down, down_bias;
};

/// torch.optim.AdamW with the defaults that it shares with tend's, fused where the version can.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
class AdamW {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters) : parameters_(parameters) {
    for (const Tensor& parameter : parameters) {
      means_.push_back(at::zeros_like(parameter));
      squares_.push_back(at::zeros_like(parameter));
      steps_.push_back(at::zeros({}, at::kFloat));
    }
  }

  void step() {
    const at::NoGradGuard guard;
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
    for (const Tensor& count : steps_) count.add_(1);
    at::_fused_adamw_(parameters_, gradients, means_, squares_, {}, steps_, /*lr=*/1e-3,
                      /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/1e-2, /*eps=*/1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  std::vector<Tensor> parameters_, means_, squares_, steps_;
};
#else
using AdamW = torch::optim::AdamW;
#endif

/// A GPT, its data and its optimizer.
struct Training {
  Training(const Work& w, std::uint64_t seed)
      : parameters(seed),
        token_embedding(parameters.matrix("token_embedding.weight", w[0], w[2])),
        position_embedding(parameters.matrix("position_embedding.weight", w[1], w[2])),
        norm(parameters, "norm.", w[2]),
        head(parameters.matrix("head.weight", w[0], w[2])),
        tokens(random_text(seed, w[5], w[1], w[0])),
        targets(random_text(seed + 1, w[5], w[1], w[0]).flatten()) {
    for (std::int64_t i = 0; i < w[3]; ++i) {
      blocks.emplace_back(parameters, "blocks." + std::to_string(i) + ".", w[2], w[4]);
    }
    optimizer = std::make_unique<AdamW>(parameters.all());
  }

  Tensor step() {
    for (const Tensor& parameter : parameters.all()) clear_gradient(parameter);
    Tensor x = at::embedding(token_embedding, tokens) + position_embedding;
    for (const Block& block : blocks) x = block(x);
    const Tensor logits = at::linear(norm(x), head);
    Tensor loss = at::cross_entropy_loss(logits.flatten(0, 1), targets);
    loss.backward();
    optimizer->step();
    return loss;
  }

  const std::map<std::string, Tensor>& parameters_by_name() const { return parameters.by_name(); }

  Parameters parameters;
  Tensor token_embedding, position_embedding;
  std::vector<Block> blocks;
  Norm norm;
  Tensor head, tokens, targets;
  std::unique_ptr<AdamW> optimizer;
};

}  // namespace

Module causal_attention(const Work& w, std::uint64_t seed) {
  Parameters parameters(seed);
  const Attention attention(parameters, "", w[2], w[3], w[4]);
  return {attention, parameters.all()};
}

Task training_step(const Work& w, std::uint64_t seed) {
  return training_task(std::make_shared<Training>(w, seed));
}

}  // namespace compare
