// Calls that users may nest to any depth.
#pragma once

#include <memory>
#include <type_traits>

#pragma GCC visibility push(default)

namespace tend {

namespace detail {
/// Whether the calling thread's stack has 512 KiB left, enough for what the library calls until it
/// asks again.
bool has_stack() noexcept;
void call_on_new_stack(const char* operation, void (*f)(void*), void* context);
}  // namespace detail

/// Calls f(), on an added stack segment if little of the thread's own stack is left: for backwards
/// within backwards, 10,000 levels deep, or modules in modules. The thread stays the same. Error
/// naming `operation` when a gigabyte of segments is in use; OutOfMemoryError when the system has
/// no memory for another one.
template <class F>
void with_stack(const char* operation, F&& f) {
  if (detail::has_stack()) {
    f();
    return;
  }
  using Function = std::remove_reference_t<F>;
  detail::call_on_new_stack(
      operation, [](void* context) { (*static_cast<Function*>(context))(); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}  // namespace tend

#pragma GCC visibility pop
