// Weights that are packed once, and then used in many products of few rows, such as single tokens.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Copies of the weights of linear layers, in the order in which the kernels read them.
///
/// With a copy, a product of a few rows takes about half the time and has the same bits. Weights
/// beyond kMostBytes in total are not copied: they do not fit the caches, and reading memory limits
/// the speed anyway.
class PackedWeights {
 public:
  /// While a Use exists, `linear` on this thread reads packed weights from `weights`, and adds
  /// missing ones. With nullptr, it has no effect.
  class Use {
   public:
    [[nodiscard]] explicit Use(PackedWeights* weights) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    PackedWeights* before_;
  };

  /// The object in use on this thread, or nullptr.
  static PackedWeights* in_use() noexcept;

  /// The panels of the transpose of `weight` (pack_for_tiles), or an undefined Array if there is no
  /// room for them.
  ///
  /// They are packed at the first call, and again after a write to the weight.
  Array panels(const Array& weight);
  /// Frees all copies.
  void clear() noexcept { copies_.clear(); }
  /// The size of all copies in bytes.
  std::int64_t bytes() const noexcept;

 private:
  static constexpr std::int64_t kMostBytes = 64 << 20;

  struct Copy {
    Array weight;  // owns the memory, whose address is the key
    std::uint32_t version;
    Array panels;
  };

  std::unordered_map<const void*, Copy> copies_;
};

}  // namespace tend::kernels
