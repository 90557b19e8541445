// Destroying objects that own one another, however long the chain.
#pragma once

#include <utility>

namespace tend {

/// Base of an object that may own others of its kind: its link in the list of destroy_in_turn.
template <class T>
struct DestroyedInTurn {
  T* next_dead = nullptr;
};

/// remove(object) for an object whose removal may remove the next, and that one the next: a long
/// chain would overflow the call stack. Here the outermost call on a thread works through a list
/// instead. Its links are in the objects, since destroying must not need memory.
template <class T, class Remove>
void destroy_in_turn(T* object, Remove remove) noexcept {
  constinit thread_local static T* dead = nullptr;
  constinit thread_local static bool removing = false;
  object->next_dead = std::exchange(dead, object);
  if (std::exchange(removing, true)) return;
  while (dead != nullptr) {
    T* next = dead;
    dead = next->next_dead;
    remove(next);
  }
  removing = false;
}

}  // namespace tend
