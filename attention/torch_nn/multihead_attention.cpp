#include <tend/attention/torch_nn/multihead_attention.h>

#include <limits>

#include <tend/attention/book/inputs.h>
#include <tend/attention/functions/mask.h>
#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/ops.h>
#include <tend/nn/layers/init.h>

namespace tend::nn {
namespace {

constexpr const char* kName = "MultiheadAttention";

// Checks all sizes before any weight is initialised, and returns embed_dim.
std::int64_t checked_width(std::int64_t embed_dim, std::int64_t num_heads,
                           const MultiheadAttentionOptions& options) {
  if (embed_dim < 1 || num_heads < 1 || embed_dim % num_heads != 0) {
    fail<ShapeError>(kName, "embed_dim ", embed_dim, " must be divisible by num_heads ", num_heads);
  }
  const auto check_size = [](const char* name, const std::optional<std::int64_t>& size) {
    if (size && *size < 1) fail<ShapeError>(kName, name, " must be at least 1, got ", *size);
  };
  check_size("kdim", options.kdim);
  check_size("vdim", options.vdim);
  check_dropout(kName, options.dropout);
  return embed_dim;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.impl() == b.impl();
}

void check_mask(const char* name, const Tensor& mask, const char* meaning, const Shape& wanted) {
  if (mask.shape() != wanted) {
    fail<ShapeError>(kName, name, " ", mask.shape(), " is not ", meaning, " = ", wanted);
  }
  if (mask.dtype() != boolean && !is_floating(mask.dtype())) {
    fail<DTypeError>(kName, name, " must be bool or floating, got ", mask.dtype());
  }
}

// True if this call's keys and values are appended to the cached ones.
bool extends(const MultiheadAttentionMasks& masks) {
  return masks.cache != nullptr && !masks.static_kv;
}

std::int64_t cached_tokens(const MultiheadAttentionMasks& masks) {
  return extends(masks) ? masks.cache->length() : 0;
}

// Joins two masks, each of which may be undefined. The result is bool (true: hidden) if both are.
// Otherwise it is floating, and added to the scores.
Tensor joined(const Tensor& a, const Tensor& b, DType dtype) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  if (a.dtype() == boolean && b.dtype() == boolean) return logical_or(a, b);
  const auto added = [dtype](const Tensor& mask) {
    if (mask.dtype() != boolean) return mask.to(dtype);
    return masked_fill(zeros(mask.shape(), dtype), mask, -std::numeric_limits<double>::infinity());
  };
  return added(a) + added(b);
}

// Extends the mask by `count` keys, which it leaves visible.
Tensor with_more_keys(const Tensor& mask, std::int64_t count) {
  if (!mask.defined() || count == 0) return mask;
  Shape more = mask.shape();
  more[more.rank() - 1] = count;
  return cat({mask, zeros(more, mask.dtype())}, -1);
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t width, std::int64_t heads,
                                       const MultiheadAttentionOptions& options)
    : embed_dim(checked_width(width, heads, options)),
      num_heads(heads),
      kdim(options.kdim.value_or(width)),
      vdim(options.vdim.value_or(width)),
      dropout(options.dropout),
      add_zero_attn(options.add_zero_attn),
      batch_first(options.batch_first),
      out_proj(width, width, options.bias) {
  const auto drawn = [](std::int64_t rows, std::int64_t columns) {
    Parameter weight(empty({rows, columns}));
    init::xavier_uniform_(weight);
    return weight;
  };
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = drawn(3 * embed_dim, embed_dim);
  } else {
    q_proj_weight = drawn(embed_dim, embed_dim);
    k_proj_weight = drawn(embed_dim, kdim);
    v_proj_weight = drawn(embed_dim, vdim);
  }
  if (options.bias) {
    in_proj_bias = Parameter(zeros({3 * embed_dim}));
    init::zeros_(out_proj.bias);
  }
  if (!options.add_bias_kv) return;
  for (Parameter* const each : {&bias_k, &bias_v}) {
    *each = Parameter(empty({1, 1, embed_dim}));
    init::xavier_normal_(*each);
  }
}

void MultiheadAttention::fail_inputs(const Tensor& query, const Tensor& key,
                                     const Tensor& value) const {
  fail<ShapeError>(kName, "query ", query.shape(), ", key ", key.shape(), " and value ",
                   value.shape(), " must be (L, N, ", embed_dim, "), (S, N, ", kdim,
                   ") and (S, N, ", vdim, "); batch_first swaps L and N, and N may be missing");
}

std::int64_t MultiheadAttention::token_count(const Tensor& x) const {
  if (x.dim() != 2 && x.dim() != 3) fail_inputs(x, x, x);
  return x.size(x.dim() == 3 ? token_dim() : 0);
}

MultiheadAttention::Sizes MultiheadAttention::checked_sizes(const Tensor& query, const Tensor& key,
                                                            const Tensor& value) const {
  const std::int64_t rank = query.dim();
  if ((rank != 2 && rank != 3) || key.dim() != rank || value.dim() != rank)
    fail_inputs(query, key, value);
  const std::int64_t tokens = rank == 3 ? token_dim() : 0;
  const bool fits = query.size(-1) == embed_dim && key.size(-1) == kdim && value.size(-1) == vdim &&
                    key.size(tokens) == value.size(tokens);
  if (!fits) fail_inputs(query, key, value);
  if (rank == 2) return {query.size(0), key.size(0), 1, false};
  const std::int64_t batch = query.size(1 - tokens);
  if (key.size(1 - tokens) != batch || value.size(1 - tokens) != batch)
    fail_inputs(query, key, value);
  return {query.size(tokens), key.size(tokens), batch, true};
}

void MultiheadAttention::check_cache(const MultiheadAttentionMasks& masks,
                                     const Sizes& sizes) const {
  if (masks.static_kv) {
    if (masks.cache == nullptr)
      fail(kName, "static_kv needs a cache, which stores the projections");
    if (masks.is_causal)
      fail(kName, "is_causal cannot be combined with static_kv: give an attn_mask");
    return;
  }
  if (masks.cache == nullptr) return;
  if (masks.cache->options().window)
    fail(kName, "the cache stores only the last ", *masks.cache->options().window,
         " tokens, but attention sees all");
  if (bias_k.defined() || add_zero_attn)
    fail(kName, "add_bias_kv and add_zero_attn cannot be combined with a cache");
  if (sizes.keys != sizes.queries) {
    fail<ShapeError>(kName, "with a cache, query and key must have the same tokens, got ",
                     sizes.queries, " and ", sizes.keys, "; a memory needs static_kv");
  }
  if (sizes.queries > 1 && !masks.is_causal && !masks.attn_mask.defined()) {
    fail(kName, sizes.queries,
         " tokens with a cache need is_causal or an attn_mask, which hides later tokens");
  }
}

Tensor MultiheadAttention::bias_part(std::int64_t first, std::int64_t count) const {
  if (!in_proj_bias.defined()) return {};
  return in_proj_bias.narrow(0, first * embed_dim, count * embed_dim);
}

Tensor MultiheadAttention::project_query(const Tensor& query) const {
  const Tensor weight =
      in_proj_weight.defined() ? in_proj_weight.narrow(0, 0, embed_dim) : Tensor(q_proj_weight);
  return linear(query, weight, bias_part(0));
}

// Inputs that are the same tensor share one matrix product.
MultiheadAttention::Projected MultiheadAttention::project(const Tensor& query, const Tensor& key,
                                                          const Tensor& value) const {
  const std::int64_t width = embed_dim;
  if (!in_proj_weight.defined()) {
    return {project_query(query), linear(key, k_proj_weight, bias_part(1)),
            linear(value, v_proj_weight, bias_part(2))};
  }
  const auto apply = [&](const Tensor& x, std::int64_t first, std::int64_t count) {
    return linear(x, in_proj_weight.narrow(0, first * width, count * width),
                  bias_part(first, count));
  };
  const auto part = [width](const Tensor& x, std::int64_t i) {
    return x.narrow(-1, i * width, width);
  };
  if (is_same(query, key) && is_same(key, value)) {
    const Tensor all = linear(query, in_proj_weight, in_proj_bias);
    return {part(all, 0), part(all, 1), part(all, 2)};
  }
  if (is_same(key, value)) {
    const Tensor both = apply(key, 1, 2);
    return {project_query(query), part(both, 0), part(both, 1)};
  }
  return {project_query(query), apply(key, 1, 1), apply(value, 2, 1)};
}

MultiheadAttention::Projected MultiheadAttention::project_memory(const Tensor& query,
                                                                 const Tensor& key,
                                                                 const Tensor& value,
                                                                 attention::KVCache& cache) const {
  const std::vector<Tensor> sources = {in_proj_weight.defined() ? in_proj_weight : k_proj_weight,
                                       v_proj_weight, in_proj_bias, key, value};
  if (const auto* made = cache.remembered(sources))
    return {project_query(query), made->key, made->value};
  Projected all = project(query, key, value);
  cache.remember(sources, {all.key, all.value});
  return all;
}

void MultiheadAttention::append_keys(Projected& inputs) const {
  const auto append = [this](Tensor& x, const Tensor& row) {
    Shape shape = x.shape();
    shape[token_dim()] = 1;
    x = cat({x, row.expand(shape)}, token_dim());
  };
  if (bias_k.defined()) {
    append(inputs.key, bias_k);
    append(inputs.value, bias_v);
  }
  if (!add_zero_attn) return;
  const Tensor row = zeros({1, 1, embed_dim}, inputs.key.dtype());
  append(inputs.key, row);
  append(inputs.value, row);
}

// (L, N, E), or (N, L, E) with batch_first, -> (N, heads, L, E / heads), without a copy.
Tensor MultiheadAttention::split_heads(const HookPoint& hook, const Tensor& x) const {
  const Tensor heads = unflatten(x, -1, {num_heads, -1});  // throws if num_heads is 0
  return attention::pass_heads(hook,
                               batch_first ? heads.transpose(1, 2) : heads.permute({1, 2, 0, 3}));
}

// The elements of the result are in memory in the order (L, N, E), also with batch_first. A dropout
// of the result then draws its random numbers in this order, as in PyTorch.
Tensor MultiheadAttention::merge_heads(const Tensor& context) const {
  const Tensor tokens = out_proj(context.permute({2, 0, 1, 3}).contiguous().flatten(-2));
  return batch_first ? tokens.transpose(0, 1) : tokens;
}

attention::AttentionOptions MultiheadAttention::attention_options(
    const MultiheadAttentionMasks& masks, const Sizes& sizes, DType dtype) const {
  Tensor padding = masks.key_padding_mask, mask = masks.attn_mask;
  const std::int64_t queries = sizes.queries, keys = sizes.keys, batch = sizes.batch;
  if (padding.defined()) {
    check_mask("key_padding_mask", padding, "(N, S)", {batch, keys});
    padding = padding.view({batch, 1, 1, keys});
  }
  if (mask.defined() && mask.dim() == 2) {
    check_mask("attn_mask", mask, "(L, S)", {queries, keys});
  } else if (mask.defined()) {
    if (mask.dim() != 3) {
      fail<ShapeError>(kName, "attn_mask ", mask.shape(), " is neither ", Shape{queries, keys},
                       " nor ", Shape{batch * num_heads, queries, keys});
    }
    check_mask("attn_mask", mask, "(N * num_heads, L, S)", {batch * num_heads, queries, keys});
    mask = mask.reshape({batch, num_heads, queries, keys});
  }
  const std::int64_t more = (bias_k.defined() ? 1 : 0) + (add_zero_attn ? 1 : 0);
  attention::AttentionOptions options{.dropout_p = is_training() ? dropout : 0.0,
                                      .is_causal = masks.is_causal && more == 0,
                                      .query_offset = masks.is_causal ? cached_tokens(masks) : 0};
  if (masks.is_causal && more > 0) {  // the appended keys come last, but are visible
    mask = joined(mask, logical_not(attention::causal_mask(queries, keys)), dtype);
  }
  mask = with_more_keys(joined(padding, mask, dtype), more);
  if (mask.defined()) options.attn_mask = mask.dtype() == boolean ? logical_not(mask) : mask;
  return options;
}

attention::AttentionOutput MultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                                       const Tensor& value,
                                                       const MultiheadAttentionMasks& masks) const {
  Sizes sizes = checked_sizes(query, key, value);
  check_cache(masks, sizes);
  sizes.keys += cached_tokens(masks);
  if (!sizes.has_batch) {
    const auto batched = [this](const Tensor& x) { return x.unsqueeze(1 - token_dim()); };
    const Tensor q = batched(query), k = is_same(key, query) ? q : batched(key),
                 v = is_same(value, key) ? k : batched(value);
    MultiheadAttentionMasks own = masks;
    if (masks.key_padding_mask.defined()) {
      check_mask("key_padding_mask", masks.key_padding_mask, "(S)", {sizes.keys});
      own.key_padding_mask = masks.key_padding_mask.unsqueeze(0);
    }
    attention::AttentionOutput out = forward(q, k, v, own);
    return {out.context.squeeze(1 - token_dim()),
            out.weights.defined() ? out.weights.squeeze(0) : Tensor()};
  }
  const attention::AttentionOptions options = attention_options(masks, sizes, query.dtype());
  attention::KVCache::Call call(kName, extends(masks) ? masks.cache : nullptr, 1, sizes.queries);
  Projected inputs = masks.static_kv ? project_memory(query, key, value, *masks.cache)
                                     : project(query, key, value);
  append_keys(inputs);
  const Tensor q = split_heads(attention::kHookQuery, inputs.query);
  Tensor k = split_heads(attention::kHookKey, inputs.key),
         v = split_heads(attention::kHookValue, inputs.value);
  if (extends(masks)) {
    const auto all = masks.cache->extend(masks.cache->next_layer(), k, v);
    k = all.key;
    v = all.value;
  }
  attention::AttentionOutput out;
  if (masks.need_weights) {
    out = attention::attention_with_weights(q, k, v, options);
  } else {
    out.context = attention::scaled_dot_product_attention(q, k, v, options);
  }
  out.context = merge_heads(out.context);
  if (masks.need_weights && masks.average_attn_weights) out.weights = out.weights.mean({1});
  call.done();
  return out;
}

attention::AttentionOutput MultiheadAttention::operator()(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionMasks& masks) const {
  return Module::operator()(query, key, value, masks);
}

}  // namespace tend::nn
