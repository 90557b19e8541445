// The rows about whole modules and training steps, in libtorch. They are plain functions on
// tensors, with fused attention if the version has it.

#include <cmath>
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

  /// The projection of x by `weight`, split into heads: (B, H, T, D).
  Tensor split(const Tensor& x, const Tensor& weight) const {
    return at::linear(x, weight)
        .view({x.size(0), x.size(1), num_heads, weight.size(0) / num_heads})
        .transpose(1, 2);
  }
  Tensor joined(const Tensor& context) const {
    return at::linear(context.transpose(1, 2).flatten(2), out, out_bias);
  }

  Tensor operator()(const Tensor& x) const {
    return joined(attend(split(x, query), split(x, key), split(x, value), {}, true));
  }

  std::int64_t num_heads;
  Tensor query, key, value, out, out_bias;
};

/// The recorded activations. They have no names, so libtorch does not pay for a map of names.
using Cache = std::vector<Tensor>;
constexpr std::size_t kPatternIndex = 4;  // among a block's activations

/// The causal attention pattern. Adds the scores and the pattern to the cache.
Tensor attention_pattern(const Tensor& query, const Tensor& key, Cache& cache) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
  const std::int64_t length = query.size(-2);
  const Tensor hidden = at::ones({length, length}, at::kBool).triu(1);
  const Tensor scores =
      at::matmul(query * scale, key.transpose(-2, -1)).masked_fill(hidden, -INFINITY);
  const Tensor pattern = at::softmax(scores, -1);
  cache.insert(cache.end(), {scores, pattern});
  return pattern;
}

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

  /// Computes the block and adds all its activations to the cache. These are the activations that
  /// forward hooks and a composed attention would record.
  Tensor cached(const Tensor& x, Cache& cache) const {
    cache.push_back(x);
    const Tensor normed = norm1.cached(x, cache);
    const Tensor q = attention.split(normed, attention.query),
                 k = attention.split(normed, attention.key),
                 v = attention.split(normed, attention.value);
    const Tensor pattern = attention_pattern(q, k, cache);
    const Tensor z = at::matmul(pattern, v), written = attention.joined(z);
    const Tensor middle = x + written;
    cache.insert(cache.end(), {q, k, v, z, written, middle});
    const Tensor before = at::linear(norm2.cached(middle, cache), up, up_bias);
    const Tensor hidden = at::gelu(before), added = at::linear(hidden, down, down_bias);
    const Tensor result = middle + added;
    cache.insert(cache.end(), {before, hidden, added, result});
    return result;
  }

  Norm norm1;
  Attention attention;
  Norm norm2;
  Tensor up, up_bias, down, down_bias;
};

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

  /// The logits, and the pattern of every layer.
  std::vector<Tensor> run_with_cache() const {
    Cache cache;
    std::vector<Tensor> results(1);
    Tensor x = at::embedding(token_embedding, tokens);
    cache.push_back(x);
    x = x + position_embedding;
    for (const Block& block : blocks) {
      const std::size_t begin = cache.size();
      x = block.cached(x, cache);
      results.push_back(cache[begin + kPatternIndex]);
    }
    results[0] = at::linear(norm.cached(x, cache), head);
    return results;
  }
  /// The logits, and the pattern of the first layer's first head. All attention is fused.
  std::vector<Tensor> run_with_head() const {
    Tensor x = at::embedding(token_embedding, tokens) + position_embedding;
    const Attention& first = blocks[0].attention;
    const Tensor normed = blocks[0].norm1(x);
    const std::int64_t width = first.query.size(0) / first.num_heads;
    const auto of_head = [&](const Tensor& weight) {
      return at::linear(normed, weight.narrow(0, 0, width)).unsqueeze(1);
    };
    Cache cache;
    const Tensor pattern = attention_pattern(of_head(first.query), of_head(first.key), cache);
    for (const Block& block : blocks) x = block(x);
    return {at::linear(norm(x), head), pattern};
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

Task lens_run(const Work& w, std::uint64_t seed) {
  const auto training = std::make_shared<Training>(w, seed);
  if (w.operation == "lens_head")
    return lens_task([training] { return training->run_with_head(); });
  return lens_task([training] { return training->run_with_cache(); });
}

}  // namespace compare
