#include <tend/attention/models/gpt.h>

#include <tend/attention/models/token_places.h>
#include <tend/autograd/ops/ops.h>
#include <tend/nn/module/hook_point.h>

namespace tend::attention {
namespace {

constexpr nn::HookPoint kEmbed("hook_embed"), kPositionEmbed("hook_pos_embed");

// Checks all sizes before any weights are initialised.
const GPTConfig& checked(const GPTConfig& config) {
  if (config.num_layers < 0)
    fail<ShapeError>("GPT", "num_layers ", config.num_layers, " is negative");
  if (config.vocab_size < 0)
    fail<ShapeError>("GPT", "vocab_size ", config.vocab_size, " is negative");
  return checked_block("GPT", config);
}

void check_places(const char* name, const Tensor& places, const Tensor& tokens) {
  if (places.dtype() != int64)
    fail<DTypeError>("GPT", name, " are ", places.dtype(), ", not int64");
  if (places.shape() != tokens.shape() && places.shape() != Shape{tokens.size(1)})
    fail<ShapeError>("GPT", name, " ", places.shape(),
                     " must be (B, T) or (T,) for tokens (B, T) = ", tokens.shape());
}

void check_positions(const GPTConfig& config, const Tensor& tokens, const GPTInputs& inputs) {
  const Tensor& positions = inputs.positions;
  check_places("positions", positions, tokens);
  if (config.positions == PositionKind::alibi && inputs.cache != nullptr)
    fail("GPT", "ALiBi needs the distances of positions, but a cache does not store positions");
  if (positions.numel() == 0) return;
  const auto lowest = min(positions).item<std::int64_t>();
  const auto highest = max(positions).item<std::int64_t>();
  if (lowest < 0 || highest >= config.context_length) {
    fail<IndexError>("GPT", "position ", lowest < 0 ? lowest : highest,
                     " is out of range for a context_length of ", config.context_length);
  }
}

void check_documents(const Tensor& tokens, const GPTInputs& inputs) {
  check_places("documents", inputs.documents, tokens);
  if (inputs.cache != nullptr)
    fail("GPT", "documents cannot be combined with a cache: pass each document as a sequence");
  if (inputs.padding.defined())
    fail("GPT", "documents cannot be combined with padding: give the padding a document number");
}

}  // namespace

GPT::GPT(const GPTConfig& c)
    : config(checked(c)),
      token_embedding(c.vocab_size, c.width),
      position_embedding(c.positions, c.context_length, c.width),
      dropout(c.embedding_dropout.value_or(c.dropout)),
      norm(c.norm, c.width, c.norm_eps, c.norm_bias),
      head(c.width, c.tied_head ? 0 : c.vocab_size, /*with_bias=*/false) {
  if (c.tied_head) head.weight = token_embedding.weight;
  blocks.reserve(c.num_layers);
  for (std::int64_t i = 0; i < c.num_layers; ++i) blocks.emplace_back(c);
}

void GPT::check_inputs(const Tensor& tokens, const GPTInputs& inputs) const {
  const std::int64_t length = inputs.cache != nullptr ? inputs.cache->length() : 0;
  if (tokens.dim() != 2 || tokens.size(1) > config.context_length - length) {
    fail<ShapeError>("GPT", "needs tokens (batch, at most ", config.context_length - length,
                     "), got ", tokens.shape());
  }
  if (inputs.padding.defined()) {
    if (inputs.padding.dtype() != int64)
      fail<DTypeError>("GPT", "padding is ", inputs.padding.dtype(), ", not int64");
    if (inputs.padding.shape() != Shape{tokens.size(0)}) {
      fail<ShapeError>("GPT", "padding ", inputs.padding.shape(),
                       " must be (B,) for tokens (B, T) = ", tokens.shape());
    }
    if (any(inputs.padding < 0).item<bool>()) fail("GPT", "padding must not be negative");
    if (inputs.cache == nullptr && any(inputs.padding > tokens.size(1)).item<bool>())
      fail("GPT", "there is more padding than tokens ", tokens.shape());
  }
  if (inputs.positions.defined()) check_positions(config, tokens, inputs);
  if (inputs.documents.defined()) check_documents(tokens, inputs);
  if (inputs.cache == nullptr) return;
  const auto& window = inputs.cache->options().window;
  if (window && !(config.window && *config.window <= *window)) {
    fail("GPT", "the cache stores only the last ", *window, " tokens, but the model sees ",
         config.window ? as_text(*config.window) : "all");
  }
}

Tensor GPT::embed(const Tensor& tokens, const GPTInputs& inputs) const {
  Tensor x = kEmbed(token_embedding(tokens));
  if (position_embedding.is_added()) {
    const bool in_order =
        !inputs.padding.defined() && !inputs.positions.defined() && !inputs.documents.defined();
    const std::int64_t first = inputs.cache != nullptr ? inputs.cache->length() : 0;
    const Tensor positions = in_order ? position_embedding.range(first, tokens.size(1))
                                      : position_embedding(token_positions(tokens.size(1), inputs));
    Tensor added = positions.to(x.dtype());
    // `added` may be a view of the weight. Without a copy, a hook that writes in place would change
    // the weight.
    if (kPositionEmbed.is_heard()) added = added.clone();
    x = x + kPositionEmbed(added);
  }
  return dropout(x);
}

Tensor GPT::forward(const Tensor& tokens, const GPTInputs& inputs) const {
  check_inputs(tokens, inputs);
  Tensor x = embed(tokens, inputs);
  KVCache::Call call("GPT", inputs.cache, std::ssize(blocks), tokens.size(1));
  TokenPlaces places(config, tokens.size(1), x.dtype(), inputs);
  for (const TransformerBlock& block : blocks) {
    x = block(x, places);
    ++places.layer;
  }
  if (inputs.last_only && x.size(1) > 1) x = x.narrow(1, x.size(1) - 1, 1);
  const Tensor logits = head(norm(x));
  call.done();
  return logits;
}

Tensor GPT::operator()(const Tensor& tokens, const GPTInputs& inputs) const {
  return Module::operator()(tokens, inputs);
}

GPTOutput GPT::with_weights(const Tensor& tokens) const {
  check_inputs(tokens, {});
  GPTOutput out;
  Tensor x = embed(tokens, {});
  const TokenPlaces places(config, tokens.size(1), x.dtype());
  for (const TransformerBlock& block : blocks) {
    AttentionOutput step = block.with_weights(x, places);
    x = std::move(step.context);
    out.weights.push_back(std::move(step.weights));
  }
  out.logits = head(norm(x));
  return out;
}

}  // namespace tend::attention
