#include <tend/attention/functions/fused.h>

#include <tend/attention/functions/scores.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/attention/attention.h>

namespace tend::attention {
namespace {

// The options that are not tensors.
struct FusedOptions {
  bool is_causal;
  double dropout_p;
  double scale;
};

Shape heads_shape(const Tensor& query, const Tensor& key) {
  return broadcast_shapes("scaled_dot_product_attention", batch_shape(query), batch_shape(key));
}

Shape with_last(Shape batch, std::int64_t rows, std::int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}

Array expand_heads(const Tensor& x, const Shape& heads) {
  return x.array().expand(with_last(heads, x.size(-2), x.size(-1)));
}

// An uninitialised array (..., heads, T, D) with the layout of `like`: where that is a view of
// (..., T, heads, D), so is this, and heads are merged again without a copy.
Array empty_like_heads(const Tensor& like, const Shape& shape) {
  const Shape& strides = like.array().strides();
  const std::int64_t rank = like.dim();
  const bool split = rank >= 3 && rank == shape.rank() && strides[rank - 3] < strides[rank - 2];
  if (!split) return Array::empty(shape, like.dtype());
  Shape memory = shape;
  std::swap(memory[rank - 3], memory[rank - 2]);
  return Array::empty(memory, like.dtype()).transpose(-3, -2);
}

kernels::AttentionRule rule_of(const FusedOptions& s, const Tensor& query, const Shape& weights,
                               const Tensor& mask, const Tensor& kept) {
  return {.scale = s.scale,
          .is_causal = s.is_causal,
          .mask = mask.defined() ? mask.array().expand(weights) : Array(),
          .kept = kept.defined() ? kept.array() : Array(),
          .keep_factor = kept_factor(query.dtype(), s.dropout_p)};
}

// Indices of the saved tensors.
constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kContext = 4, kLogSums = 5,
                      kKept = 6;

void fused_gradients(Derivative& d, const FusedOptions& fused) {
  const Tensor query = d.saved(kQuery), key = d.saved(kKey), value = d.saved(kValue);
  const Shape heads = heads_shape(query, key);
  const auto room = [&](const Tensor& input, std::size_t i) {
    if (!d.needs(i)) return Array();
    return empty_like_heads(input, with_last(heads, input.size(-2), input.size(-1)));
  };
  const kernels::AttentionGradients gradients = {room(query, kQuery), room(key, kKey),
                                                 room(value, kValue)};
  kernels::attention_backward(gradients, d.grad().array(), d.saved(kContext).array(),
                              d.saved(kLogSums).array(), expand_heads(query, heads),
                              expand_heads(key, heads), expand_heads(value, heads),
                              rule_of(fused, query, with_last(heads, query.size(-2), key.size(-2)),
                                      d.saved(kMask), d.saved(kKept)));
  if (d.needs(kQuery)) d.set(kQuery, Tensor(gradients.query));
  if (d.needs(kKey)) d.set(kKey, Tensor(gradients.key));
  if (d.needs(kValue)) d.set(kValue, Tensor(gradients.value));
}

// The same gradients from public operations, which can be differentiated again.
void composed_gradients(Derivative& d, const FusedOptions& fused) {
  const Tensor query = d.saved(kQuery), key = d.saved(kKey), value = d.saved(kValue);
  const Tensor scores = compute_scores(query, key, fused.scale);
  const Tensor weights =
      visible_softmax(scores, {.attn_mask = d.saved(kMask), .is_causal = fused.is_causal});
  const Tensor bits = d.saved(kKept);
  const auto drop = [&](const Tensor& x) {
    if (!bits.defined()) return x;
    return mul_kept(x, bits.array(), kept_factor(x.dtype(), fused.dropout_p));
  };
  const Tensor grad_weights = drop(matmul(d.grad(), value.transpose(-2, -1)));
  const Tensor grad_scores =
      weights * (grad_weights - sum(weights * grad_weights, {-1}, /*keepdim=*/true)) * fused.scale;
  if (d.needs(kQuery)) d.set(kQuery, matmul(grad_scores, key));
  if (d.needs(kKey)) d.set(kKey, matmul(grad_scores.transpose(-2, -1), query));
  if (d.needs(kValue)) d.set(kValue, matmul(drop(weights).transpose(-2, -1), d.grad()));
}

}  // namespace

std::string fused_obstacle(const Tensor& query, const Tensor& key, const Tensor& value,
                           const AttentionOptions& options) {
  const Shape heads = heads_shape(query, key);
  if (!broadcasts_to(batch_shape(value), heads)) {
    return as_text("value ", value.shape(), " has more leading dimensions than the weights, ",
                   with_last(heads, query.size(-2), key.size(-2)));
  }
  if (options.attn_mask.defined() && options.attn_mask.dtype() != boolean) {
    if (options.attn_mask.dtype() != query.dtype()) {
      return as_text("the mask is ", options.attn_mask.dtype(), ", the query ", query.dtype());
    }
    if (grad_enabled() && options.attn_mask.requires_grad()) return "the mask requires grad";
  }
  if (options.dropout_p == 1) return "dropout_p is 1";
  return {};
}

// Measured on two cores of a Zen 5 (benchmarks/attention.cpp), causal, forward / forward and
// backward: with 16 tokens the fused path is 2.3 / 1.3 times as fast, with 64 2.1 / 1.3, with
// 256 2.7 / 1.9, with 1024 3.9 / 2.6 times. Below 16 it depends on the width of the heads. It
// computes 16 queries at a time, so it does not pay for a single query and cached keys.
bool fused_pays(const Tensor& query, const Tensor& key) {
  constexpr std::int64_t kMin = 16;
  return query.size(-2) >= kMin && key.size(-2) >= kMin;
}

Tensor fused_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttentionOptions& options) {
  const Shape heads = heads_shape(query, key);
  const Shape weights = with_last(heads, query.size(-2), key.size(-2));
  const FusedOptions fused = {options.is_causal, options.dropout_p, scale_of(query, options)};
  // As dropout does: no random numbers are drawn where there are no weights.
  Tensor kept;
  if (options.dropout_p > 0 && element_count(weights) > 0) {
    kept = Tensor(draw_kept(element_count(weights), options.dropout_p, default_generator()));
  }
  Array context = empty_like_heads(query, with_last(heads, query.size(-2), value.size(-1)));
  const Tensor log_sums = empty(with_last(heads, 2, query.size(-2)), query.dtype());
  kernels::attention(context, log_sums.array(), expand_heads(query, heads),
                     expand_heads(key, heads), expand_heads(value, heads),
                     rule_of(fused, query, weights, options.attn_mask, kept));
  return record(
      "ScaledDotProductFlashAttentionForCpuBackward0", std::move(context), {query, key, value},
      {query, key, value, options.attn_mask, kOutput, log_sums, kept},
      [fused](Derivative& d) {
        if (grad_enabled()) {
          composed_gradients(d, fused);
        } else {
          fused_gradients(d, fused);
        }
      },
      "scaled_dot_product_attention");
}

}  // namespace tend::attention
