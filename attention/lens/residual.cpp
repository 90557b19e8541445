#include <tend/attention/lens/residual.h>

#include <tend/attention/lens/weights.h>
#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::lens {
namespace {

using attention::GPT;

std::string block_name(std::int64_t layer, const char* name) {
  return as_text("blocks.", layer, '.', name);
}

std::int64_t checked_layer(const GPT& model, const std::optional<std::int64_t>& layer) {
  const std::int64_t layers = std::ssize(model.blocks), wanted = layer.value_or(layers);
  if (wanted < 0 || wanted > layers)
    fail<IndexError>("lens", "layer ", wanted, " is out of range for ", layers, " layers");
  return wanted;
}

// Collects parts.
class Collection {
 public:
  void add(const std::string& label, const Tensor& x) {
    parts_.push_back(x);
    labels_.push_back(label);
  }
  // Adds the embeddings. Position vectors that all sequences share are expanded.
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

void add_feed_forward(Collection& parts, const GPT& model, const ActivationCache& cache,
                      std::int64_t layer) {
  if (model.config.feed_forward == attention::FeedForwardKind::none) return;
  parts.add(as_text(layer, "_mlp_out"), cache[block_name(layer, "hook_mlp_out")]);
}

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
    add_feed_forward(parts, model, cache, i);
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
    add_feed_forward(parts, model, cache, i);
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
  if (model.norm.kind == attention::NormKind::none) return stack;
  const bool centres = model.norm.kind == attention::NormKind::layer;
  const Tensor centred = centres ? stack - stack.mean({-1}, true) : stack;
  return centred / cache["ln_final.hook_scale"] * model.norm.weight;
}

Tensor logit_attribution(const GPT& model, const ActivationCache& cache, const Parts& parts,
                         const Tensor& tokens, const Tensor& others) {
  const Shape wanted{parts.stack.size(1), parts.stack.size(2)};
  for (const Tensor& each : {tokens, others}) {
    if (each.defined() && each.shape() != wanted)
      fail<ShapeError>("logit_attribution", "tokens are ", each.shape(),
                       ", not (batch, position): ", wanted);
  }
  const Tensor rows = W_U(model).t();
  Tensor directions = embedding(rows, tokens);  // (batch, position, d_model)
  if (others.defined()) directions = directions - embedding(rows, others);
  return (through_final_norm(model, cache, parts.stack) * directions).sum({-1});
}

Tensor logit_lens(const GPT& model, const ActivationCache& cache) {
  return model.head(model.norm(accumulated_parts(model, cache).stack));
}

Tensor residual_jacobians(const GPT& model, const Tensor& tokens) {
  // The graph begins at the embeddings, whether or not parameters require grad.
  const GradModeGuard graph(true);
  const Hook begin{"hook_embed", [](const Tensor& x) { return x.detach().requires_grad_(); }};
  const auto is_stream = [](const std::string& name) {
    return name.ends_with("hook_resid_pre") || name.ends_with("hook_resid_post");
  };
  const Hooks hooks({begin});
  const ActivationCache cache = run_with_cache(model, tokens, {.filter = is_stream}).cache;
  const std::int64_t layers = std::ssize(model.blocks);
  std::vector<Tensor> streams;
  for (std::int64_t i = 0; i < layers; ++i)
    streams.push_back(cache[block_name(i, "hook_resid_pre")]);
  const Tensor end = cache[block_name(layers - 1, "hook_resid_post")];
  streams.push_back(end);
  std::vector<Tensor> rows;  // (layers + 1, d_model) each
  for (std::int64_t i = 0; i < end.size(-1); ++i) {
    Tensor direction = zeros_like(end);
    direction.select(-1, i).fill_(1);
    std::vector<Tensor> means;
    for (const Tensor& each : autograd::grad({end}, streams, {direction}, {.retain_graph = true}))
      means.push_back(each.mean({0, 1}));
    rows.push_back(stack(means));
  }
  return stack(rows, 1);
}

Tensor jacobian_lens(const GPT& model, const ActivationCache& cache, const Tensor& jacobians) {
  const Tensor streams = accumulated_parts(model, cache).stack;
  const Shape wanted{streams.size(0), streams.size(-1), streams.size(-1)};
  if (jacobians.shape() != wanted) {
    fail<ShapeError>("jacobian_lens", "jacobians are ", to_string(jacobians.shape()), ", not ",
                     to_string(wanted));
  }
  return model.head(model.norm(matmul(streams, jacobians.transpose(1, 2).unsqueeze(1))));
}

}  // namespace tend::lens
