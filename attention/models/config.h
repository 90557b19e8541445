/// \file
/// What a GPT is made of.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/attention/functions/rotary.h>
#include <tend/autograd/ops/activation.h>

namespace tend::attention {

/// How a block normalises: nn::LayerNorm, nn::RMSNorm, or not at all.
enum class NormKind : unsigned char { layer, rms, none };

/// How a GPT knows where a token stands.
enum class PositionKind : unsigned char {
  learned,     ///< a learned vector for each position is added to the embedding
  sinusoidal,  ///< the vector of Vaswani et al. 2017 is added instead
  rotary,      ///< queries and keys are rotated (rotary)
  alibi,       ///< scores fall with the distance (scores::alibi)
  none         ///< only what the causal mask tells
};

/// How a block's second half computes: width -> hidden -> width.
enum class FeedForwardKind : unsigned char {
  gelu,    ///< down(gelu(up(x)))
  swiglu,  ///< down(silu(gate(x)) * up(x)); Shazeer 2020, https://arxiv.org/abs/2002.05202
  geglu,   ///< down(gelu(gate(x)) * up(x))
  relu,    ///< down(relu(up(x)))
  none     ///< blocks have attention only
};

/// Whether a network multiplies by a gate, and keeps both matrices in one.
constexpr bool is_gated(FeedForwardKind kind) {
  return kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu;
}

/// Sizes and parts of a GPT. As they are, they make GPT-2's architecture but for its biases of
/// query, key and value, its GELU and its tied head. GPT2::config and Llama::config read those of a
/// config.json.
struct GPTConfig {
  std::int64_t vocab_size = 256;
  /// The longest sequence, with what is cached.
  std::int64_t context_length = 64;
  std::int64_t width = 64;
  std::int64_t num_heads = 4;
  std::int64_t num_layers = 2;
  /// Of attention weights, of the sum of embeddings (either may have its own, below), and of what
  /// attention and feed-forward network add to a block's input.
  double dropout = 0.0;
  Flag qkv_bias = false;
  /// That of the feed-forward networks; GPT-2 has GeluKind::tanh.
  GeluKind gelu = GeluKind::exact;

  NormKind norm = NormKind::layer;
  double norm_eps = 1e-5;
  PositionKind positions = PositionKind::learned;
  RotaryOptions rotary = {};
  FeedForwardKind feed_forward = FeedForwardKind::gelu;
  /// Between the two maps of a feed-forward network; 4 width unless given.
  std::optional<std::int64_t> hidden_width = {};
  /// Heads of keys and values, each of which serves several of the queries; num_heads unless given.
  std::optional<std::int64_t> num_kv_heads = {};
  /// width / num_heads unless given.
  std::optional<std::int64_t> head_dim = {};
  /// RMSNorm of each head's query and key, before they are rotated, as in Qwen3.
  Flag qk_norm = false;
  Flag out_bias = true;           ///< of the attention's last map
  Flag feed_forward_bias = true;  ///< of both maps
  Flag norm_bias = true;          ///< of NormKind::layer; RMSNorm has none
  /// Logits from the token embedding, instead of a head of their own.
  Flag tied_head = false;
  /// A token sees itself and the window - 1 tokens before it; all before it unless given.
  std::optional<std::int64_t> window = {};
  /// Of attention weights; dropout unless given.
  std::optional<double> attention_dropout = {};
  /// Of the sum of embeddings; dropout unless given.
  std::optional<double> embedding_dropout = {};

  std::int64_t kv_heads() const { return num_kv_heads.value_or(num_heads); }
  /// The size of one head. ShapeError unless there are heads.
  std::int64_t head_size() const;
};

/// ShapeError or Error, naming `module`, for what no block can have.
const GPTConfig& checked_block(const char* module, const GPTConfig& config);

}  // namespace tend::attention
