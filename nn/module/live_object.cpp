#include <tend/nn/module/live_object.h>

#include <mutex>
#include <set>

namespace tend::nn {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<const void*> addresses;
};

// The constructor of the first LiveObject constructs the registry. So the registry is destroyed
// after all static modules.
Registry& registry() {
  static Registry all;
  return all;
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
  return found;
}

}  // namespace tend::nn
