// Hooks: functions that users attach to tensors and modules.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/base/function_ref.h>

namespace tend {

/// Removes a hook. Functions that register a hook return it.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> remove) : remove_(std::move(remove)) {}

  /// Removes the hook. A second call does nothing, and neither does a call when the tensor or
  /// module no longer exists. A hook may remove itself.
  void remove() {
    if (!remove_) return;
    remove_();
    remove_ = {};
  }

 private:
  std::function<void()> remove_;
};

/// Hooks in the order of their registration.
///
/// A copy shares the hooks with the original. Exception: if no hook was registered before the copy
/// was made, the two lists are independent.
template <class Hook>
class HookList {
 public:
  /// Registers a hook.
  ///
  /// Throws: Error - the function is empty; the error names the operation
  HookHandle add(const char* operation, Hook hook) {
    if (is_empty_function(hook)) fail(operation, "the hook is empty");
    if (!hooks_) hooks_ = std::make_shared<Hooks>();
    hooks_->push_back(std::make_shared<const Hook>(std::move(hook)));
    return HookHandle([list = std::weak_ptr(hooks_), added = std::weak_ptr(hooks_->back())] {
      if (const auto hooks = list.lock()) std::erase(*hooks, added.lock());
    });
  }

  /// Separates this list from the lists that it was copied from or to. HookHandles that exist
  /// already no longer remove hooks from this list.
  void separate() {
    if (hooks_) hooks_ = std::make_shared<Hooks>(*hooks_);
  }

  bool empty() const noexcept { return !hooks_ || hooks_->empty(); }

  /// Calls f(hook) for each hook. If f adds or removes hooks, this takes effect at the next call.
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
