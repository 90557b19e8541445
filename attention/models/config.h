/// \file
/// The configuration of a GPT.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/attention/functions/rotary.h>
#include <tend/autograd/ops/activation.h>

namespace tend::attention {

/// How a block normalises: nn::LayerNorm, nn::RMSNorm, or not at all.
enum class NormKind : unsigned char { layer, rms, none };

/// How a GPT represents the position of a token.
enum class PositionKind : unsigned char {
  learned,     ///< a learned vector for each position is added to the embedding
  sinusoidal,  ///< the vector of Vaswani et al. 2017 is added instead
  rotary,      ///< queries and keys are rotated; see rotary()
  alibi,       ///< scores decrease with the distance; see scores::alibi
  none         ///< only the causal mask depends on positions
};

/// The feed-forward network of a block: width -> hidden -> width.
enum class FeedForwardKind : unsigned char {
  gelu,    ///< down(gelu(up(x)))
  swiglu,  ///< down(silu(gate(x)) * up(x)); Shazeer 2020, https://arxiv.org/abs/2002.05202
  geglu,   ///< down(gelu(gate(x)) * up(x))
  relu,    ///< down(relu(up(x)))
  none     ///< blocks have attention only
};

/// True if a feed-forward network multiplies by a gate. Gate and up are then one matrix.
constexpr bool is_gated(FeedForwardKind kind) {
  return kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu;
}

/// The sizes and parts of a GPT.
///
/// The defaults are GPT-2's architecture except for the biases of query, key and value, the kind of
/// GELU, and the tied output head. GPT2::config and Llama::config read a configuration from a
/// config.json.
struct GPTConfig {
  std::int64_t vocab_size = 256;
  /// The longest sequence, including cached tokens.
  std::int64_t context_length = 64;
  std::int64_t width = 64;
  std::int64_t num_heads = 4;
  std::int64_t num_layers = 2;
  /// The dropout of attention weights, of the sum of embeddings, and of what attention and
  /// feed-forward network add to a block's input. The first two can be set separately, below.
  double dropout = 0.0;
  Flag qkv_bias = false;
  /// The GELU of the feed-forward networks. GPT-2 has GeluKind::tanh.
  GeluKind gelu = GeluKind::exact;

  NormKind norm = NormKind::layer;
  double norm_eps = 1e-5;
  PositionKind positions = PositionKind::learned;
  RotaryOptions rotary = {};
  FeedForwardKind feed_forward = FeedForwardKind::gelu;
  /// The width between the two maps of a feed-forward network. The default is 4 width.
  std::optional<std::int64_t> hidden_width = {};
  /// The number of heads of keys and values; several heads of queries may share one. The default is
  /// num_heads.
  std::optional<std::int64_t> num_kv_heads = {};
  /// The size of a head. The default is width / num_heads.
  std::optional<std::int64_t> head_dim = {};
  /// Applies RMSNorm to each head's query and key before they are rotated, as in Qwen3.
  Flag qk_norm = false;
  Flag out_bias = true;           ///< the bias of the attention's last map
  Flag feed_forward_bias = true;  ///< the biases of both maps of the feed-forward networks
  Flag norm_bias = true;          ///< the bias of NormKind::layer; RMSNorm has no bias
  /// The output head uses the weight of the token embedding instead of its own.
  Flag tied_head = false;
  /// A token sees itself and the window - 1 tokens before it. The default is all tokens before it.
  std::optional<std::int64_t> window = {};
  /// The dropout of attention weights. The default is `dropout`.
  std::optional<double> attention_dropout = {};
  /// The dropout of the sum of embeddings. The default is `dropout`.
  std::optional<double> embedding_dropout = {};

  std::int64_t kv_heads() const { return num_kv_heads.value_or(num_heads); }
  /// The size of one head.
  ///
  /// Throws: ShapeError - head_dim is not set, and num_heads is below 1
  std::int64_t head_size() const;
};

/// Checks the configuration of a block and returns it. `module` is the name in messages.
///
/// Throws:
///   ShapeError - a size is below 1 or too large
///   ShapeError - width or num_heads is not divisible as needed, or rotary.dims is invalid
///   Error      - norm_eps, a dropout or a number of `rotary` is out of range
const GPTConfig& checked_block(const char* module, const GPTConfig& config);

}  // namespace tend::attention
