#include <tend/nn/module/live_object.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <tend/core/base/fork.h>

namespace tend::nn {
namespace {

// Objects are listed by the page of their address. All lists are guarded by GlobalLock::modules.
constexpr std::uintptr_t kPageBytes = 4096;
constexpr std::uintptr_t kLists = 1024;
constinit std::array<LiveObject*, kLists> live_objects{};
constinit std::uint32_t live_process = 0;  // the process that filled them

// Holds the lock; in a new child of a fork() it empties the lists.
class Lists {
 public:
  Lists() : lock_(detail::global_mutex(detail::GlobalLock::modules)) {
    const std::uint32_t process = detail::process_number.load(std::memory_order_relaxed);
    if (std::exchange(live_process, process) != process) live_objects.fill(nullptr);
  }
  LiveObject*& operator[](std::uintptr_t page) const noexcept {
    return live_objects[page % kLists];
  }

 private:
  std::lock_guard<std::mutex> lock_;
};

std::uintptr_t page_of(const void* object) noexcept {
  return reinterpret_cast<std::uintptr_t>(object) / kPageBytes;
}

}  // namespace

LiveObject::LiveObject(LiveKind kind) noexcept : kind_(kind) {
  const Lists lists;
  process_ = live_process;
  link_ = &lists[page_of(this)];
  next_ = *link_;
  if (next_ != nullptr) next_->link_ = &next_;
  *link_ = this;
}

LiveObject::~LiveObject() {
  const Lists lists;
  if (process_ != live_process) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

std::vector<const LiveObject*> LiveObject::live_within(std::span<const std::byte> bytes) {
  std::vector<const LiveObject*> found;
  if (bytes.empty()) return found;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = page_of(bytes.data()), last = page_of(&bytes.back());
  const std::uintptr_t pages = std::min(last - first + 1, kLists);
  const Lists lists;
  for (std::uintptr_t i = 0; i < pages; ++i) {
    for (const LiveObject* each = lists[first + i]; each != nullptr; each = each->next_) {
      if (reinterpret_cast<std::uintptr_t>(each) - begin < bytes.size()) found.push_back(each);
    }
  }
  return found;
}

}  // namespace tend::nn
