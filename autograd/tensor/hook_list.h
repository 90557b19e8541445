// Functions that users attach to tensors and modules.
#pragma once

#include <cstdint>
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

  /// Removes the hook; does nothing the second time, or when the tensor or module is gone.
  /// OutOfMemoryError where the system has no memory; the hook then stays.
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
  /// Error that names the operation for an empty function; OutOfMemoryError where the system has no
  /// memory. No hook is added then.
  HookHandle add(const char* operation, Hook hook) {
    if (is_empty_function(hook)) fail(operation, "the hook is empty");
    if (!entries_) entries_ = std::make_shared<Entries>();
    const std::uint64_t id = entries_->next++;
    HookHandle handle([id, entries = std::weak_ptr<Entries>(entries_)] {
      if (const auto alive = entries.lock()) {
        alive->change([id](Hooks& hooks) {
          std::erase_if(hooks, [id](const auto& each) { return each.first == id; });
        });
      }
    });
    entries_->change([&](Hooks& hooks) { hooks.emplace_back(id, std::move(hook)); });
    return handle;
  }

  /// Keeps its hooks, but no longer shares them with the lists that it is a copy of: a HookHandle
  /// of theirs does not remove a hook here. OutOfMemoryError where the system has no memory;
  /// nothing has changed then.
  void separate() {
    if (entries_) entries_ = std::make_shared<Entries>(*entries_);
  }

  bool empty() const noexcept { return !entries_ || entries_->hooks->empty(); }

  /// Calls f(hook) for each. Hooks that are added or removed meanwhile count from the next call on.
  template <class F>
  void for_each(F f) const {
    if (!entries_) return;
    const std::shared_ptr<const Hooks> hooks = entries_->hooks;
    for (const auto& [id, hook] : *hooks) f(hook);
  }

 private:
  using Hooks = std::vector<std::pair<std::uint64_t, Hook>>;
  struct Entries {
    std::uint64_t next = 0;
    // Replaced instead of changed, so that a for_each that is running keeps its own list.
    std::shared_ptr<const Hooks> hooks = std::make_shared<const Hooks>();

    template <class F>
    void change(F f) {
      auto changed = std::make_shared<Hooks>(*hooks);
      f(*changed);
      hooks = std::move(changed);
    }
  };
  std::shared_ptr<Entries> entries_;
};

}  // namespace tend
