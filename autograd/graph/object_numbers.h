// Numbers for the objects that a walk over the graph meets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tend/core/memory/pool.h>

namespace tend {

/// Numbers objects 0, 1, ... in the order in which they are first looked up.
///
/// It is a hash table with open addressing, because a walk looks up every edge.
class Numbering {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Numbering() : slots_(64) {}

  /// Returns the number of `object`, which is not null, and whether it is new.
  std::pair<std::uint32_t, bool> number(const void* object) {
    Slot& slot = slots_[find(object)];
    if (slot.object != nullptr) return {slot.number, false};
    slot = {object, count_};
    if (2 * static_cast<std::size_t>(++count_) > slots_.size()) grow();
    return {count_ - 1, true};
  }
  /// Returns the number of an object, or kNone if it has no number.
  std::uint32_t look_up(const void* object) const noexcept {
    const Slot& slot = slots_[find(object)];
    return slot.object != nullptr ? slot.number : kNone;
  }

 private:
  struct Slot {
    const void* object = nullptr;
    std::uint32_t number = 0;
  };

  // Returns the slot in which the object is, or would be. At least half of the slots are free.
  std::size_t find(const void* object) const noexcept {
    // Addresses are multiples of 64 bytes, so the lowest 6 bits are dropped. The multiplication
    // mixes the others.
    std::size_t at = (reinterpret_cast<std::uintptr_t>(object) >> 6) * 0x9e3779b97f4a7c15u >> 32;
    for (;; ++at) {
      at &= slots_.size() - 1;
      if (slots_[at].object == object || slots_[at].object == nullptr) return at;
    }
  }

  void grow() {
    std::vector<Slot, PoolAllocator<Slot>> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.object != nullptr) slots_[find(slot.object)] = slot;
    }
  }

  std::vector<Slot, PoolAllocator<Slot>> slots_;
  std::uint32_t count_ = 0;
};

}  // namespace tend
