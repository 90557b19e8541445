// The rows about generation, in libtorch, with a cache of keys and values written by hand.

#include <memory>
#include <string>
#include <vector>

#include "../generation_work.h"
#include "../inputs.h"
#include "torch.h"
#include "torch_parameters.h"

#include "same_works.h"

namespace compare {

namespace {

/// A linear layer. For one token, a product with a vector may be faster.
struct Linear {
  Tensor operator()(const Tensor& x, bool as_vector) const {
    if (!as_vector) return at::linear(x, weight, bias);
    return at::addmv(bias, weight, x.flatten()).view({1, 1, -1});
  }

  Tensor weight, bias;
};

Linear random_linear(Parameters& p, const std::string& name, std::int64_t out, std::int64_t in) {
  return {p.matrix(name + ".weight", out, in), p.vector(name + ".bias", out)};
}

/// One linear layer for queries, keys and values instead of three, as in GPT-2's files.
Linear random_qkv(Parameters& p, const std::string& prefix, std::int64_t width) {
  std::vector<Tensor> weights, biases;
  for (const char* name : {"W_query", "W_key", "W_value"}) {
    const Linear layer = random_linear(p, prefix + name, width, width);
    weights.push_back(layer.weight);
    biases.push_back(layer.bias);
  }
  return {at::cat(weights), at::cat(biases)};
}

struct CachedBlock {
  CachedBlock(Parameters& p, const std::string& prefix, const GenerationWork& w)
      : norm1(p, prefix + "norm1.", w.width),
        norm2(p, prefix + "norm2.", w.width),
        qkv(random_qkv(p, prefix + "attention.", w.width)),
        out(random_linear(p, prefix + "attention.out_proj", w.width, w.width)),
        up(random_linear(p, prefix + "feed_forward.up", 4 * w.width, w.width)),
        down(random_linear(p, prefix + "feed_forward.down", w.width, 4 * w.width)),
        keys(at::empty({1, w.heads, w.prompt + 1, w.width / w.heads}, at::kFloat)),
        values(at::empty_like(keys)) {}

  /// Input and result have shape (1, T, C). The input follows `length` cached tokens.
  Tensor operator()(const Tensor& x, std::int64_t length, bool as_vector) const {
    const std::int64_t tokens = x.size(1);
    const auto parts = qkv(norm1(x), as_vector)
                           .view({1, tokens, 3, keys.size(1), keys.size(3)})
                           .permute({2, 0, 3, 1, 4})
                           .unbind(0);
    keys.narrow(2, length, tokens).copy_(parts[1]);
    values.narrow(2, length, tokens).copy_(parts[2]);
    const Tensor context = length == 0 ? attend(parts[0], parts[1], parts[2], {}, true)
                                       : attend(parts[0], keys.narrow(2, 0, length + tokens),
                                                values.narrow(2, 0, length + tokens), {}, false);
    const Tensor middle = x + out(context.transpose(1, 2).flatten(2), as_vector);
    return middle + down(at::gelu(up(norm2(middle), as_vector), "tanh"), as_vector);
  }

  Norm norm1, norm2;
  Linear qkv, out, up, down;
  Tensor keys, values;
};

/// A model, a prompt, and a cache with room for the prompt and one more token.
class Generation {
 public:
  Generation(const GenerationWork& w, std::uint64_t seed, bool as_vector) : as_vector_(as_vector) {
    Parameters parameters(seed);
    tokens_ = parameters.matrix("token_embedding.weight", w.vocabulary, w.width);
    positions_ = parameters.matrix("position_embedding.weight", w.context, w.width);
    for (std::int64_t i = 0; i < w.layers; ++i)
      blocks_.emplace_back(parameters, "blocks." + std::to_string(i) + ".", w);
    norm_ = std::make_unique<Norm>(parameters, "norm.", w.width);
    head_ = w.has_tied_head ? tokens_ : parameters.matrix("head.weight", w.vocabulary, w.width);
    prompt_ = random_text(seed, 1, w.prompt, w.vocabulary);
    next_ = random_text(seed + 1, 1, 1, w.vocabulary);
  }

  Tensor read_prompt() const { return logits(prompt_, 0, false); }

  /// Decodes the token after the prompt. Each call does the same step.
  Tensor decode() {
    if (!is_filled_) read_prompt();
    is_filled_ = true;
    return logits(next_, prompt_.size(1), as_vector_);
  }

 private:
  Tensor logits(const Tensor& tokens, std::int64_t length, bool as_vector) const {
    const std::int64_t count = tokens.size(1);
    Tensor x = at::embedding(tokens_, tokens) + positions_.narrow(0, length, count);
    for (const CachedBlock& block : blocks_) x = block(x, length, as_vector);
    const Tensor last = (*norm_)(x.narrow(1, count - 1, 1));
    if (!as_vector) return at::linear(last, head_);
    return at::mv(head_, last.flatten()).view({1, 1, -1});
  }

  bool as_vector_;
  bool is_filled_ = false;
  Tensor tokens_, positions_, head_, prompt_, next_;
  std::vector<CachedBlock> blocks_;
  std::unique_ptr<Norm> norm_;
};

Task decoding(const Work& w, std::uint64_t seed, bool as_vector) {
  const auto made = std::make_shared<Generation>(generation_work(w), seed, as_vector);
  return forward_task([made] { return made->decode(); });
}

}  // namespace

Task generation(const Work& w, std::uint64_t seed) {
  const InferenceGuard guard;
  if (w.operation == "generate_prompt") {
    const auto made = std::make_shared<Generation>(generation_work(w), seed, false);
    return forward_task([made] { return made->read_prompt(); });
  }
  return chosen_way(w.way, {{"linear", [=] { return decoding(w, seed, false); }},
                            {"addmv", [=] { return decoding(w, seed, true); }}});
}

}  // namespace compare
