// Destroys chains of objects that own one another, without recursion.
#pragma once

#include <utility>

namespace tend {

/// Base of objects that may own others of their kind. It has the link for destroy_in_turn's list.
template <class T>
struct DestroyedInTurn {
  T* next_dead = nullptr;
};

/// Calls remove(object), which may call destroy_in_turn for the objects that `object` owns.
///
/// Plain recursion would overflow the call stack on a long chain. So a nested call only adds its
/// object to a list of the thread, and the outermost call works through this list. The links of the
/// list are in the objects, since destroying must not allocate memory.
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
