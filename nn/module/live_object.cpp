#include <tend/nn/module/live_object.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace tend::nn {
namespace {

// Objects are listed by the page of their address. live_mutex guards all lists.
constexpr std::uintptr_t kPageBytes = 4096;
constexpr std::uintptr_t kLists = 1024;
constinit std::array<LiveObject*, kLists> live_objects{};
constinit std::mutex live_mutex;

std::uintptr_t page_of(const void* object) noexcept {
  return reinterpret_cast<std::uintptr_t>(object) / kPageBytes;
}

}  // namespace

LiveObject::LiveObject(LiveKind kind) noexcept : kind_(kind) {
  const std::lock_guard lock(live_mutex);
  link_ = &live_objects[page_of(this) % kLists];
  next_ = *link_;
  if (next_ != nullptr) next_->link_ = &next_;
  *link_ = this;
}

LiveObject::~LiveObject() {
  const std::lock_guard lock(live_mutex);
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

std::vector<const LiveObject*> LiveObject::live_within(std::span<const std::byte> bytes) {
  std::vector<const LiveObject*> found;
  if (bytes.empty()) return found;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = page_of(bytes.data()), last = page_of(&bytes.back());
  const std::uintptr_t pages = std::min(last - first + 1, kLists);
  const std::lock_guard lock(live_mutex);
  for (std::uintptr_t i = 0; i < pages; ++i) {
    for (const LiveObject* each = live_objects[(first + i) % kLists]; each != nullptr;
         each = each->next_) {
      if (reinterpret_cast<std::uintptr_t>(each) - begin < bytes.size()) found.push_back(each);
    }
  }
  return found;
}

}  // namespace tend::nn
