// Calls that users may nest as deep as they like.
#pragma once

#include <memory>
#include <type_traits>

namespace tend {

namespace detail {
/// Whether the calling thread's stack has 512 KiB for what the library calls before it asks again.
bool has_stack() noexcept;
void call_on_new_stack(const char* operation, void (*f)(void*), void* context);
}  // namespace detail

/// f(), on memory that is added to the call stack where little of the thread's own is left: a
/// backward within a backward, 10,000 levels deep, or modules in modules. The thread stays the
/// same. Error in the name of `operation` where calls are nested so deep that a gigabyte was added;
/// OutOfMemoryError where the system has none to add.
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
