#include <tend/nn/module/live_object.h>

#include <cstring>
#include <mutex>
#include <set>

namespace tend::nn {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<const void*> addresses;
};

// The first object makes it, so it outlives static modules.
Registry& registry() {
  static Registry all;
  return all;
}

// A std::vector is three pointers: to its elements, behind the last of them, and behind its memory.
struct Vector {
  std::uintptr_t begin, end, room;
};

// The address of the LiveObject in a module or parameter that begins here; nullptr where there is
// none.
const void* object_at(const std::set<const void*>& all, std::uintptr_t begin) {
  constexpr std::uintptr_t kBefore = sizeof(void*);  // what comes before it there
  const auto found = all.lower_bound(reinterpret_cast<const void*>(begin));
  if (found == all.end()) return nullptr;
  return reinterpret_cast<std::uintptr_t>(*found) - begin <= kBefore ? *found : nullptr;
}

}  // namespace

LiveObject::LiveObject(LiveKind kind) : kind_(kind) {
  const std::lock_guard lock(registry().mutex);
  registry().addresses.insert(this);
}

LiveObject::~LiveObject() {
  const std::lock_guard lock(registry().mutex);
  registry().addresses.erase(this);
}

std::vector<const LiveObject*> LiveObject::live_within(std::span<const std::byte> bytes) {
  std::vector<const LiveObject*> found;
  const std::lock_guard lock(registry().mutex);
  const std::set<const void*>& all = registry().addresses;
  const auto end = all.lower_bound(bytes.data() + bytes.size());
  for (auto at = all.lower_bound(bytes.data()); at != end; ++at)
    found.push_back(static_cast<const LiveObject*>(*at));
  for (std::size_t at = 0; at + sizeof(Vector) <= bytes.size(); at += sizeof(void*)) {
    Vector vector;
    std::memcpy(&vector, bytes.data() + at, sizeof vector);
    const void* const first = object_at(all, vector.begin);
    // Three pointers to objects are no vector.
    if (first != nullptr && vector.begin < vector.end && vector.end <= vector.room &&
        object_at(all, vector.end) == nullptr) {
      found.push_back(static_cast<const LiveObject*>(first));
    }
  }
  return found;
}

}  // namespace tend::nn
