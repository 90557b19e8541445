#include <tend/attention/lens/residual.h>

#include <tend/attention/lens/weights.h>
#include <tend/autograd/ops/ops.h>

namespace tend::lens {
namespace {

using attention::GPT;

std::string block_name(std::int64_t layer, const char* name) {
  return as_text("blocks.", layer, '.', name);
}

std::int64_t checked_layer(const GPT& model, const std::optional<std::int64_t>& layer) {
  const std::int64_t layers = std::ssize(model.blocks), wanted = layer.value_or(layers);
  if (wanted < 0 || wanted > layers)
    fail<IndexError>("lens", "layer ", wanted, " is none of ", layers, ", nor their end");
  return wanted;
}

// Parts that are being collected.
class Collection {
 public:
  void add(const std::string& label, const Tensor& x) {
    parts_.push_back(x);
    labels_.push_back(label);
  }
  // The embeddings. Vectors of positions that all sequences share are expanded.
  void add_embeddings(const ActivationCache& cache) {
    const Tensor tokens = cache["hook_embed"];
    add("embed", tokens);
    if (cache.contains("hook_pos_embed"))
      add("pos_embed", cache["hook_pos_embed"].expand(tokens.shape()));
  }
  Parts stacked() const { return {stack(parts_), labels_}; }

 private:
  std::vector<Tensor> parts_;
  std::vector<std::string> labels_;
};

// What each head adds: (batch, position, head, d_model).
Tensor results_of(const GPT& model, const ActivationCache& cache, std::int64_t layer) {
  const std::string name = block_name(layer, "attn.hook_result");
  if (cache.contains(name)) return cache[name];
  const Tensor z = cache[block_name(layer, "attn.hook_z")].transpose(1, 2);
  return matmul(z, W_O(model, layer)).transpose(1, 2);
}

}  // namespace

Parts parts_by_layer(const GPT& model, const ActivationCache& cache,
                     std::optional<std::int64_t> layer) {
  Collection parts;
  parts.add_embeddings(cache);
  for (std::int64_t i = 0; i < checked_layer(model, layer); ++i) {
    parts.add(as_text(i, "_attn_out"), cache[block_name(i, "hook_attn_out")]);
    parts.add(as_text(i, "_mlp_out"), cache[block_name(i, "hook_mlp_out")]);
  }
  return parts.stacked();
}

Parts parts_by_head(const GPT& model, const ActivationCache& cache,
                    std::optional<std::int64_t> layer) {
  Collection parts;
  parts.add_embeddings(cache);
  Tensor bias;
  for (std::int64_t i = 0; i < checked_layer(model, layer); ++i) {
    const Tensor results = results_of(model, cache, i);
    for (std::int64_t head = 0; head < results.size(2); ++head)
      parts.add(as_text('L', i, 'H', head), results.select(2, head));
    parts.add(as_text(i, "_mlp_out"), cache[block_name(i, "hook_mlp_out")]);
    if (const Tensor own = b_O(model, i); own.defined()) bias = bias.defined() ? bias + own : own;
  }
  if (bias.defined()) parts.add("bias", bias.expand(cache["hook_embed"].shape()));
  return parts.stacked();
}

Parts accumulated_parts(const GPT& model, const ActivationCache& cache,
                        std::optional<std::int64_t> layer) {
  const std::int64_t end = checked_layer(model, layer), layers = std::ssize(model.blocks);
  Collection parts;
  for (std::int64_t i = 0; i < end; ++i)
    parts.add(as_text(i, "_pre"), cache[block_name(i, "hook_resid_pre")]);
  if (end < layers) {
    parts.add(as_text(end, "_pre"), cache[block_name(end, "hook_resid_pre")]);
  } else if (layers > 0) {
    parts.add("final_post", cache[block_name(layers - 1, "hook_resid_post")]);
  }
  return parts.stacked();
}

Tensor through_final_norm(const GPT& model, const ActivationCache& cache, const Tensor& stack) {
  const bool centres = model.norm.kind == attention::NormKind::layer;
  const Tensor centred = centres ? stack - stack.mean({-1}, true) : stack;
  return centred / cache["ln_final.hook_scale"] * model.norm.weight;
}

Tensor logit_attribution(const GPT& model, const ActivationCache& cache, const Parts& parts,
                         const Tensor& tokens, const Tensor& others) {
  const Tensor rows = W_U(model).t();
  Tensor directions = embedding(rows, tokens);  // (batch, position, d_model)
  if (others.defined()) directions = directions - embedding(rows, others);
  return (through_final_norm(model, cache, parts.stack) * directions).sum({-1});
}

Tensor logit_lens(const GPT& model, const ActivationCache& cache) {
  return model.head(model.norm(accumulated_parts(model, cache).stack));
}

}  // namespace tend::lens
