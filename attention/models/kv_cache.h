/// \file
/// The keys and values of the tokens before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/kernels/matmul/packed_weights.h>

namespace tend::attention {

/// How much a KVCache keeps.
struct KVCacheOptions {
  /// The number of tokens that it has room for; it grows by itself unless given.
  std::optional<std::int64_t> capacity = {};
  /// Keeps the last `window` tokens only, for models with a window of at most that many; the others
  /// are dropped by the next call. Logits equal those of a cache that keeps all but for rounding.
  std::optional<std::int64_t> window = {};
};

/// The keys and values that the layers of a model computed for a batch of sequences, so that the
/// tokens that follow need not compute them again:
///
///     KVCache cache;
///     const NoGradGuard no_graph;
///     Tensor logits = model(prompt, {.cache = &cache});        // (B, T) tokens
///     Tensor next = argmax(logits.select(1, -1), -1, true);    // (B, 1)
///     logits = model(next, {.cache = &cache});
///
/// torch.nn's decoder, encoder and MultiheadAttention take one in their masks likewise.
///
/// A call that fails adds no tokens to the cache. A sequence is of one model, batch and dtype; the
/// next may be of others. Between its calls, weights are not changed by their data_ptr (in-place
/// operations are noticed). Do not use a cache on several threads at once. It can be moved (reset
/// the one that was moved from before it is used again), but not copied.
class KVCache {
 public:
  /// Error for a capacity or a window below 1, and for both.
  explicit KVCache(const KVCacheOptions& options = {});
  ~KVCache() = default;
  KVCache(KVCache&&) noexcept = default;
  KVCache& operator=(KVCache&&) noexcept = default;
  KVCache(const KVCache&) = delete;
  KVCache& operator=(const KVCache&) = delete;

  /// How many tokens each sequence has had.
  std::int64_t length() const noexcept { return length_; }
  /// The position of the first token whose keys are here: 0 without a window.
  std::int64_t first() const noexcept { return first_; }
  /// The number of layers whose keys and values it has room for.
  std::int64_t layers() const noexcept { return static_cast<std::int64_t>(layers_.size()); }
  const KVCacheOptions& options() const noexcept { return options_; }
  /// The bytes that it holds, those of packed weights (at most 64 MB) included.
  std::int64_t bytes() const;

  /// Forgets all tokens, and what it remembers. The tokens' memory is given back by the next call
  /// of a model.
  void reset() noexcept;
  /// Forgets the tokens behind the first `length`. Error for more than there are, fewer than 0, and
  /// for a rolling cache that has lost tokens.
  void truncate(std::int64_t length);
  /// Sequence i becomes what sequence rows[i] was; `rows` is int64 (B,), of any B. For beams, and
  /// to go on from one prompt in several ways. DTypeError, ShapeError; IndexError for a row that is
  /// not there. A cache without tokens has nothing to reorder, and takes any rows.
  void reorder(const Tensor& rows);

  struct KeysValues {
    Tensor key, value;  // (B, heads, tokens, head_dim)
  };
  // What a model calls, in this order: reserve, extend for each layer, advance.

  /// Makes room for `tokens` more. Error where there is none, or for a negative number.
  void reserve(std::int64_t tokens);
  /// The keys and values of all tokens that are kept, with those of the next tokens, (B, heads, T,
  /// head_dim), behind them: views, valid until the next call. ShapeError and DTypeError where they
  /// do not fit those before or each other (only head_dim may differ), IndexError for a layer that
  /// is not `next_layer`, Error for more tokens than `reserve` made room for, AutogradError where
  /// they have a graph.
  KeysValues extend(std::size_t layer, const Tensor& key, const Tensor& value);
  /// The layer to extend next: 0 after reserve and advance.
  std::size_t next_layer() const noexcept { return next_layer_; }
  /// Counts the tokens of all layers' last `extend`.
  void advance(std::int64_t tokens) noexcept {
    length_ += tokens;
    next_layer_ = 0;
  }

  /// A call of a model or of one of its layers: it reserves, and `done` advances. Meanwhile the
  /// weights of linear layers are packed for products of few tokens and kept. Within another
  /// call it does nothing, so that a layer works alone and in a model.
  class Call {
   public:
    /// Does nothing for nullptr. Error, naming `module`, for a cache with tokens of another number
    /// of layers; the errors of `reserve`.
    Call(const char* module, KVCache* cache, std::int64_t layers, std::int64_t tokens);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    void done() noexcept;

   private:
    kernels::PackedWeights::Use packed_;
    KVCache* cache_ = nullptr;  // nullptr within another call
    std::int64_t tokens_;
  };

  /// The keys and values that were made of these tensors, which no step changes: a layer's weights
  /// and a decoder's memory. nullptr if they are not remembered, or one of the tensors was changed
  /// since. Any tensor but the first may be undefined. AutogradError where one would get a
  /// gradient.
  const KeysValues* remembered(const std::vector<Tensor>& sources) const;
  /// Remembers them, in place of those that were made with the same first tensor.
  void remember(const std::vector<Tensor>& sources, const KeysValues& made);

 private:
  struct Memory {
    std::vector<Tensor> sources;
    std::vector<std::uint32_t> versions;
    KeysValues made;
  };

  std::int64_t kept() const noexcept { return length_ - first_; }
  /// Moves the last `count` tokens to the front of tensors with room for `capacity`.
  void move_to(std::int64_t count, std::int64_t capacity);
  void reserve_rolling(std::int64_t tokens);
  void check_next(std::size_t layer, const Tensor& key, const Tensor& value) const;

  KVCacheOptions options_;
  kernels::PackedWeights weights_;
  std::vector<KeysValues> layers_;  // (B, heads, capacity, head_dim)
  std::size_t next_layer_ = 0;      // of the next extend
  std::int64_t capacity_ = 0;
  std::int64_t length_ = 0;
  std::int64_t first_ = 0;  // position of the first token that is kept
  std::int64_t begin_ = 0;  // its place in the tensors
  bool in_call_ = false;
  std::vector<Memory> memories_;
};

}  // namespace tend::attention
