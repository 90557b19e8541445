// Multi-head attention as torch.nn has it.
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
  double dropout = 0.0;  ///< of the weights
  Flag bias = true;
  /// Appends a learned key and value (bias_k, bias_v), or a zero one, that every query sees. They
  /// come last, so a prefix of a sequence has them at another place: under a causal mask it has the
  /// numbers that it has in the whole sequence but for rounding.
  Flag add_bias_kv = false;
  Flag add_zero_attn = false;
  /// Widths of key and value; embed_dim unless given.
  std::optional<std::int64_t> kdim = {};
  std::optional<std::int64_t> vdim = {};
  /// Inputs are (batch, tokens, width) instead of (tokens, batch, width).
  Flag batch_first = false;
};

/// What a call of MultiheadAttention takes beside its inputs, as PyTorch names it. In bool masks
/// true hides, as there (in tend::attention it shows); floating masks are added to the scores.
struct MultiheadAttentionMasks {
  Tensor key_padding_mask = {};  ///< (N, S), or (S) for inputs without a batch
  /// They cost the fused path, and with it equal bits of a sequence and of the same as a prefix of
  /// a longer one; what is in other sequences of the batch still does not matter.
  Flag need_weights = true;
  Tensor attn_mask = {};  ///< (L, S), or (N * num_heads, L, S)
  /// The weights' mean over the heads, (N, L, S), instead of all of them, (N, num_heads, L, S).
  Flag average_attn_weights = true;
  /// Hides later keys, besides what the masks hide; attn_mask need not be given (in PyTorch it must
  /// be). It leaves the appended keys visible.
  Flag is_causal = false;
  /// Self-attention step by step: keys and values of the tokens before come from the cache, and
  /// those of this call's tokens are added to it. S of the masks counts the tokens before, too.
  /// Several tokens in one call need is_causal or an attn_mask. Without need_weights the results
  /// have the bits of one call with all tokens. A module called by itself has a cache of its own.
  attention::KVCache* cache = nullptr;
  /// Key and value are a memory that all steps attend to, as a decoder's. The cache keeps their
  /// projections until it is reset. They are computed again for other tensors, and after memory or
  /// weights were changed in place.
  Flag static_kv = false;
};

/// torch.nn.MultiheadAttention: queries (L, N, embed_dim), keys (S, N, kdim) and values (S, N,
/// vdim), (N, L, ...) with batch_first, or (L, ...) without a batch, give (L, N, embed_dim) alike.
/// A query that sees no key gets the bias of out_proj alone, where PyTorch gives NaN with
/// need_weights, its default. The layers of the book, with one causal input, are in
/// tend::attention.
///
/// Parameters have torch.nn's names and numbers: in_proj_weight (3 embed_dim, embed_dim), or
/// q_proj_weight, k_proj_weight and v_proj_weight where kdim or vdim differ from embed_dim;
/// in_proj_bias, bias_k, bias_v, out_proj.
class MultiheadAttention : public Module<MultiheadAttention> {
 public:
  /// embed_dim and num_heads. ShapeError unless num_heads divides embed_dim and all sizes are
  /// positive; Error unless 0 <= dropout <= 1.
  MultiheadAttention(std::int64_t width, std::int64_t heads,
                     const MultiheadAttentionOptions& options = {});

  /// The result in `context`, and the weights, after dropout, in `weights`; undefined unless
  /// need_weights. Throws:
  ///
  /// - ShapeError and DTypeError where inputs, masks and what is cached do not fit;
  /// - Error for a cache without room or with a window, of a module with add_bias_kv or
  ///   add_zero_attn, for several tokens with a cache but neither is_causal nor attn_mask, and for
  ///   static_kv without a cache or with is_causal;
  /// - AutogradError for a cache where a graph of keys or values is recorded.
  attention::AttentionOutput forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const MultiheadAttentionMasks& masks = {}) const;
  attention::AttentionOutput operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const MultiheadAttentionMasks& masks = {}) const;

  /// The tokens of an input (L, N, ...), (N, L, ...) with batch_first, or (L, ...). ShapeError for
  /// another rank.
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
  /// Sizes of a call: queries, keys with the cached ones and without the appended ones, batch.
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
