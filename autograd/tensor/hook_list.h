// Functions that users attach to tensors and modules.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/base/function_ref.h>

namespace tend {

/// What registering a hook returns: the means to remove it.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> remove) : remove_(std::move(remove)) {}

  /// Removes the hook; does nothing the second time, or when the tensor or module is gone. A hook
  /// may remove itself.
  void remove() {
    if (!remove_) return;
    remove_();
    remove_ = {};
  }

 private:
  std::function<void()> remove_;
};

/// Hooks in the order of their registration. A copy shares them, unless no hook was registered
/// before it was made.
template <class Hook>
class HookList {
 public:
  /// Error that names the operation for an empty function.
  HookHandle add(const char* operation, Hook hook) {
    if (is_empty_function(hook)) fail(operation, "the hook is empty");
    if (!hooks_) hooks_ = std::make_shared<Hooks>();
    hooks_->push_back(std::make_shared<const Hook>(std::move(hook)));
    return HookHandle([list = std::weak_ptr(hooks_), added = std::weak_ptr(hooks_->back())] {
      if (const auto hooks = list.lock()) std::erase(*hooks, added.lock());
    });
  }

  /// Keeps its hooks, but no longer shares them with the lists that it is a copy of: a HookHandle
  /// of theirs does not remove a hook here.
  void separate() {
    if (hooks_) hooks_ = std::make_shared<Hooks>(*hooks_);
  }

  bool empty() const noexcept { return !hooks_ || hooks_->empty(); }

  /// Calls f(hook) for each. Hooks that are added or removed meanwhile count from the next call on.
  template <class F>
  void for_each(F f) const {
    if (!hooks_) return;
    const Hooks now = *hooks_;
    for (const auto& hook : now) f(*hook);
  }

 private:
  using Hooks = std::vector<std::shared_ptr<const Hook>>;
  std::shared_ptr<Hooks> hooks_;
};

}  // namespace tend
