// Weights that are packed once and multiply many products of a few rows, such as a token each.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Copies of the weights of linear layers, in the order in which the kernels read them. A product
/// of a few rows takes about half the time, and has the same bits. Weights beyond kMostBytes are
/// not copied: they come from memory, whose speed is the limit anyway.
class PackedWeights {
 public:
  /// While it lives, `linear` on this thread takes its weights from `weights` and adds those that
  /// are not there. nullptr changes nothing.
  class Use {
   public:
    [[nodiscard]] explicit Use(PackedWeights* weights) noexcept;
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    PackedWeights* before_;
  };

  /// The one in use on this thread, or nullptr.
  static PackedWeights* in_use() noexcept;

  /// The panels of weight's transpose (pack_for_tiles), which are made at the first call and when
  /// the weight has been written to since. An undefined Array where there is no room.
  Array panels(const Array& weight);
  /// Gives the copies back.
  void clear() noexcept { copies_.clear(); }
  /// The bytes of all copies.
  std::int64_t bytes() const noexcept;

 private:
  static constexpr std::int64_t kMostBytes = 64 << 20;

  struct Copy {
    Array weight;  // keeps the memory, which is the key
    std::uint32_t version;
    Array panels;
  };

  std::unordered_map<const void*, Copy> copies_;
};

}  // namespace tend::kernels
