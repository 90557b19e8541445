// torch.nn's multi-head attention.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/attention/functions/attention_options.h>
#include <tend/attention/models/kv_cache.h>
#include <tend/nn/layers/linear.h>
#include <tend/nn/module/hook_point.h>

namespace tend::nn {

/// The options of nn::MultiheadAttention.
struct MultiheadAttentionOptions {
  double dropout = 0.0;  ///< the probability that a weight is dropped
  Flag bias = true;
  /// Appends a learned key and value (bias_k, bias_v) that every query sees. They come last, so
  /// their position depends on the length of the sequence. Under a causal mask, the result for a
  /// prefix therefore equals the first part of the whole result only up to rounding.
  Flag add_bias_kv = false;
  /// Appends a key and value of zeros, in the same way.
  Flag add_zero_attn = false;
  /// The widths of key and value. The default is embed_dim.
  std::optional<std::int64_t> kdim = {};
  std::optional<std::int64_t> vdim = {};
  /// Inputs are (batch, tokens, width) instead of (tokens, batch, width).
  Flag batch_first = false;
};

/// The optional inputs of MultiheadAttention, with PyTorch's names.
///
/// In bool masks true means hidden, as in PyTorch. (In tend::attention, true means visible.)
/// Floating masks are added to the scores. L is the number of queries, S the number of keys, N the
/// batch size.
struct MultiheadAttentionMasks {
  Tensor key_padding_mask = {};  ///< (N, S), or (S) for inputs without a batch
  /// Also returns the weights, which needs the composed path. The result for a prefix then equals
  /// the first part of the whole result only up to rounding. Other sequences of the batch never
  /// change the bits of a sequence.
  Flag need_weights = true;
  Tensor attn_mask = {};  ///< (L, S), or (N * num_heads, L, S)
  /// Returns the mean of the weights over the heads, (N, L, S), instead of (N, num_heads, L, S).
  Flag average_attn_weights = true;
  /// Hides later keys, in addition to what the masks hide. An attn_mask is not needed (in PyTorch
  /// it is). Appended keys stay visible.
  Flag is_causal = false;
  /// For self-attention step by step. Keys and values of earlier tokens come from the cache, and
  /// this call adds the keys and values of its own tokens. The size S of the masks includes the
  /// earlier tokens. Several tokens in one call need is_causal or an attn_mask. Without
  /// need_weights the results have the same bits as one call with all tokens. A module that is
  /// called by itself needs its own cache.
  attention::KVCache* cache = nullptr;
  /// Key and value are a memory that all steps attend to, such as a decoder's. The cache stores
  /// their projections until it is reset. The projections are computed again for other tensors, and
  /// if memory or weights were changed in place.
  Flag static_kv = false;
};

/// torch.nn.MultiheadAttention.
///
/// Queries are (L, N, embed_dim), keys (S, N, kdim) and values (S, N, vdim). The result is (L, N,
/// embed_dim). With batch_first all are (N, L, ...), and without a batch (L, ...). A query that
/// sees no key gets the bias of out_proj only. PyTorch gives NaN there if need_weights is true, its
/// default. The modules of attention/book, which have one input and are causal, are in
/// tend::attention.
///
/// Parameters have torch.nn's names and initial values: in_proj_weight (3 embed_dim, embed_dim),
/// in_proj_bias, bias_k, bias_v, out_proj. If kdim or vdim differ from embed_dim, q_proj_weight,
/// k_proj_weight and v_proj_weight replace in_proj_weight.
class MultiheadAttention : public Module<MultiheadAttention> {
 public:
  /// `width` is embed_dim, and `heads` is num_heads.
  ///
  /// Throws:
  ///   ShapeError - a size is below 1, or num_heads does not divide embed_dim
  ///   Error      - dropout is outside [0, 1]
  MultiheadAttention(std::int64_t width, std::int64_t heads,
                     const MultiheadAttentionOptions& options = {});

  /// Returns the result in `context`. With need_weights, `weights` are the weights after dropout;
  /// otherwise they are undefined.
  ///
  /// Throws:
  ///   ShapeError    - the shapes of inputs, masks and cached tokens do not fit together
  ///   DTypeError    - the dtypes of inputs, masks and cached tokens do not fit together
  ///   Error         - the cache has no room, or has a window
  ///   Error         - there is a cache, and the module has add_bias_kv or add_zero_attn
  ///   Error         - there are several tokens with a cache, but neither is_causal nor attn_mask
  ///   Error         - static_kv is used without a cache or with is_causal
  ///   AutogradError - with a cache, gradients of keys or values are being recorded
  attention::AttentionOutput forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const MultiheadAttentionMasks& masks = {}) const;
  attention::AttentionOutput operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const MultiheadAttentionMasks& masks = {}) const;

  /// The number of tokens of an input (L, N, ...), (N, L, ...) with batch_first, or (L, ...).
  ///
  /// Throws: ShapeError - the input has neither two nor three dimensions
  std::int64_t token_count(const Tensor& x) const;

  std::int64_t embed_dim, num_heads, kdim, vdim;
  double dropout;
  bool add_zero_attn, batch_first;
  TEND_PARAMETER(in_proj_weight);
  TEND_PARAMETER(q_proj_weight);
  TEND_PARAMETER(k_proj_weight);
  TEND_PARAMETER(v_proj_weight);
  TEND_PARAMETER(in_proj_bias);
  TEND_PARAMETER(bias_k);
  TEND_PARAMETER(bias_v);
  TEND_MODULE(Linear, out_proj);

 private:
  struct Projected {
    Tensor query, key, value;
  };
  /// Sizes of a call. `keys` includes the cached keys, but not the appended ones.
  struct Sizes {
    std::int64_t queries, keys, batch;
    bool has_batch;
  };
  std::int64_t token_dim() const noexcept { return batch_first ? 1 : 0; }
  [[noreturn]] void fail_inputs(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Sizes checked_sizes(const Tensor& query, const Tensor& key, const Tensor& value) const;
  void check_cache(const MultiheadAttentionMasks& masks, const Sizes& sizes) const;
  Tensor bias_part(std::int64_t first, std::int64_t count = 1) const;
  Tensor project_query(const Tensor& query) const;
  Projected project(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Projected project_memory(const Tensor& query, const Tensor& key, const Tensor& value,
                           attention::KVCache& cache) const;
  void append_keys(Projected& inputs) const;
  Tensor split_heads(const HookPoint& hook, const Tensor& x) const;
  Tensor merge_heads(const Tensor& context) const;
  attention::AttentionOptions attention_options(const MultiheadAttentionMasks& masks,
                                                const Sizes& sizes, DType dtype) const;
};

}  // namespace tend::nn
