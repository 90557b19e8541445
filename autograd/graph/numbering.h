// Numbers for objects that are met on a walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tend/core/memory/pool.h>

namespace tend {

/// Numbers objects 0, 1, ... in the order in which they are first named. A hash table without
/// nodes, since a walk asks for every edge.
class Numbering {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Numbering() : places_(64) {}

  /// The number of `object` (not null), and whether it is new.
  std::pair<std::uint32_t, bool> number(const void* object) {
    Place& place = places_[find(object)];
    if (place.object != nullptr) return {place.number, false};
    place = {object, count_};
    if (2 * static_cast<std::size_t>(++count_) > places_.size()) grow();
    return {count_ - 1, true};
  }
  /// The number of an object, kNone for one that has none.
  std::uint32_t look_up(const void* object) const noexcept {
    const Place& place = places_[find(object)];
    return place.object != nullptr ? place.number : kNone;
  }

 private:
  struct Place {
    const void* object = nullptr;
    std::uint32_t number = 0;
  };

  // Where the object is, or would be. At least half of the places are free.
  std::size_t find(const void* object) const noexcept {
    // Objects lie on multiples of 64 bytes; the multiplication spreads what is above.
    std::size_t at = (reinterpret_cast<std::uintptr_t>(object) >> 6) * 0x9e3779b97f4a7c15u >> 32;
    for (;; ++at) {
      at &= places_.size() - 1;
      if (places_[at].object == object || places_[at].object == nullptr) return at;
    }
  }

  void grow() {
    std::vector<Place, PoolAllocator<Place>> old(2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.object != nullptr) places_[find(place.object)] = place;
    }
  }

  std::vector<Place, PoolAllocator<Place>> places_;
  std::uint32_t count_ = 0;
};

}  // namespace tend
