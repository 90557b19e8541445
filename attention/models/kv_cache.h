/// \file
/// A cache of the keys and values of earlier tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/kernels/matmul/packed_weights.h>

namespace tend::attention {

/// How many tokens a KVCache stores.
struct KVCacheOptions {
  /// The number of tokens that the cache has room for. By default the cache grows by itself.
  std::optional<std::int64_t> capacity = {};
  /// Stores the last `window` tokens only, for models with a window of at most this size. The next
  /// call drops the others. The logits equal the logits with a cache of all tokens up to rounding.
  std::optional<std::int64_t> window = {};
};

/// The keys and values that the layers of a model computed for a batch of sequences. With a cache,
/// a model computes the next tokens without computing the earlier ones again:
///
///     KVCache cache;
///     const NoGradGuard no_graph;
///     Tensor logits = model(prompt, {.cache = &cache});        // (B, T) tokens
///     Tensor next = argmax(logits.select(1, -1), -1, true);    // (B, 1)
///     logits = model(next, {.cache = &cache});
///
/// nn::TransformerDecoder, nn::TransformerEncoder and nn::MultiheadAttention accept a cache in
/// their masks.
///
/// - A call that fails adds no tokens to the cache.
/// - A sequence belongs to one model, batch and dtype. After reset() these may change.
/// - Do not change weights through data_ptr during a sequence. In-place operations are noticed.
/// - Do not use a cache on several threads at once.
/// - A cache can be moved but not copied. Reset a cache that was moved from before you use it
///   again.
class KVCache {
 public:
  /// Throws: Error - the capacity or the window is below 1, or both are given
  explicit KVCache(const KVCacheOptions& options = {});
  ~KVCache() = default;
  KVCache(KVCache&&) noexcept = default;
  KVCache& operator=(KVCache&&) noexcept = default;
  KVCache(const KVCache&) = delete;
  KVCache& operator=(const KVCache&) = delete;

  /// The number of tokens that each sequence has had.
  std::int64_t length() const noexcept { return length_; }
  /// The position of the first token that is still stored. It is 0 without a window.
  std::int64_t first() const noexcept { return first_; }
  /// The number of layers whose keys and values the cache has room for.
  std::int64_t layers() const noexcept { return static_cast<std::int64_t>(layers_.size()); }
  const KVCacheOptions& options() const noexcept { return options_; }
  /// The size of the cache in bytes, including packed weights (at most 64 MB).
  std::int64_t bytes() const;

  /// Removes all tokens, and all remembered keys and values. The next call of a model frees the
  /// tokens' memory.
  void reset() noexcept;
  /// Removes the tokens after the first `length`.
  ///
  /// Throws:
  ///   Error - `length` is negative, or there are fewer tokens
  ///   Error - the cache has a window and has dropped tokens
  void truncate(std::int64_t length);
  /// Replaces sequence i by sequence rows[i]. `rows` is int64 (B,), and B becomes the new number of
  /// sequences. It is used for beams, and to continue one prompt in several ways. If the cache has
  /// no tokens, this does nothing.
  ///
  /// Throws:
  ///   DTypeError - `rows` is not int64
  ///   ShapeError - `rows` does not have one dimension
  ///   IndexError - there is no such sequence
  void reorder(const Tensor& rows);

  struct KeysValues {
    Tensor key, value;  // (B, heads, tokens, head_dim)
  };
  // A model calls, in this order: reserve, extend for each layer, advance.

  /// Makes room for `tokens` more tokens.
  ///
  /// Throws: Error - there is no room, or the number is negative
  void reserve(std::int64_t tokens);
  /// Appends the next tokens' keys and values, (B, heads, T, head_dim), and returns the keys and
  /// values of all stored tokens: views, which are valid until the next call. The head_dim of keys
  /// and values may differ.
  ///
  /// Throws:
  ///   ShapeError    - shapes do not fit each other or the stored ones
  ///   DTypeError    - dtypes do not fit each other or the stored ones
  ///   IndexError    - the layer is not `next_layer`
  ///   Error         - there are more tokens than `reserve` made room for
  ///   AutogradError - keys or values have a graph
  KeysValues extend(std::size_t layer, const Tensor& key, const Tensor& value);
  /// The layer to extend next. It is 0 after reserve and after advance.
  std::size_t next_layer() const noexcept { return next_layer_; }
  /// Adds the tokens that were appended to all layers to the length.
  void advance(std::int64_t tokens) noexcept {
    length_ += tokens;
    next_layer_ = 0;
  }

  /// A call of a model or of one of its layers. The constructor reserves room, and `done` advances.
  /// While the Call exists, linear layers pack their weights for products of few tokens, and the
  /// cache stores the packed weights. A Call inside another Call does nothing, so a layer can be
  /// called by itself or by a model.
  class Call {
   public:
    /// If `cache` is nullptr, the call does nothing. `module` is the name in messages.
    ///
    /// Throws:
    ///   Error - the cache has tokens of another number of layers
    ///   Error - there is no room for the tokens
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

  /// Returns the keys and values that were computed from `sources`: tensors that do not change from
  /// step to step, such as a layer's weights and a decoder's memory. Returns nullptr if these keys
  /// and values are not remembered, or if a source has changed since. Any source but the first may
  /// be undefined.
  ///
  /// Throws: AutogradError - a gradient of a source is being recorded
  const KeysValues* remembered(const std::vector<Tensor>& sources) const;
  /// Remembers keys and values. They replace remembered keys and values with the same first source.
  void remember(const std::vector<Tensor>& sources, const KeysValues& made);

 private:
  struct Memory {
    std::vector<Tensor> sources;
    std::vector<std::uint32_t> versions;
    KeysValues made;
  };

  // The number of stored tokens.
  std::int64_t kept() const noexcept { return length_ - first_; }
  /// Moves the last `count` tokens to the front of tensors with room for `capacity`.
  void move_to(std::int64_t count, std::int64_t capacity);
  void reserve_rolling(std::int64_t tokens);
  void check_next(std::size_t layer, const Tensor& key, const Tensor& value) const;

  KVCacheOptions options_;
  kernels::PackedWeights weights_;
  std::vector<KeysValues> layers_;  // (B, heads, capacity, head_dim)
  std::size_t next_layer_ = 0;      // the layer to extend next
  std::int64_t capacity_ = 0;
  std::int64_t length_ = 0;
  std::int64_t first_ = 0;  // the position of the first stored token
  std::int64_t begin_ = 0;  // the index of that token in the tensors
  bool in_call_ = false;
  std::vector<Memory> memories_;
};

}  // namespace tend::attention
