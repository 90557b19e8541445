// Functions that users attach to tensors and modules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tend {

/// What registering a hook gives back.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> remove) : remove_(std::move(remove)) {}

  /// Takes the hook away; nothing happens the second time, or when what it hung on is gone.
  void remove() {
    if (remove_) std::exchange(remove_, {})();
  }

 private:
  std::function<void()> remove_;
};

/// Hooks in the order of their registration. Copies share them.
template <class Hook>
class HookList {
 public:
  HookHandle add(Hook hook) {
    if (!entries_) entries_ = std::make_shared<Entries>();
    const std::uint64_t id = entries_->next++;
    entries_->hooks.emplace_back(id, std::move(hook));
    return HookHandle([id, entries = std::weak_ptr<Entries>(entries_)] {
      if (const auto alive = entries.lock()) {
        std::erase_if(alive->hooks, [id](const auto& entry) { return entry.first == id; });
      }
    });
  }

  bool empty() const noexcept { return !entries_ || entries_->hooks.empty(); }

  /// f(hook) for each; the hooks may add and remove some, which counts from the next time on.
  template <class F>
  void for_each(F f) const {
    if (!entries_) return;
    const auto hooks = entries_->hooks;
    for (const auto& [id, hook] : hooks) f(hook);
  }

 private:
  struct Entries {
    std::uint64_t next = 0;
    std::vector<std::pair<std::uint64_t, Hook>> hooks;
  };
  std::shared_ptr<Entries> entries_;
};

}  // namespace tend
