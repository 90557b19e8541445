// A reference to any callable object. A function with such a parameter need not be a template.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace tend {

template <class Signature>
class FunctionRef;

/// Calls the object that it was made from. The object must outlive the FunctionRef.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class F>  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): it is constrained
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

/// True if `f` is an empty std::function or a null pointer, so that it cannot be called.
template <class F>
bool is_empty_function(const F& f) noexcept {
  if constexpr (std::is_constructible_v<F, std::nullptr_t> && requires { f == nullptr; }) {
    return f == nullptr;
  } else {
    return false;
  }
}

}  // namespace tend
