#include <tend/autograd/graph/hooks.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <utility>

#include <tend/autograd/graph/node.h>

namespace tend::autograd {
namespace {

// When the thread ends the list is emptied but not destroyed, as a hook with static storage may
// live longer.
union LastingEntries {
  LastingEntries() noexcept : list() {}
  ~LastingEntries() { NodeHook::Entries().swap(list); }
  NodeHook::Entries list;
};
thread_local LastingEntries lasting_entries;

NodeHook::Entries& entries_of_thread() noexcept {
  return lasting_entries.list;
}

// How many hooks ended on another thread than the one that lists them, and how many of these the
// thread has looked for.
std::atomic<std::uint64_t> ends_elsewhere = 0;
thread_local std::uint64_t ends_seen = 0;

// Takes hooks that ended on another thread from the list, which is whole again before they are
// destroyed: what their functions hold may be hooks, too.
void drop_ended(NodeHook::Entries& entries) {
  const std::uint64_t ends = ends_elsewhere;
  if (ends == ends_seen) return;
  NodeHook::Entries kept;
  kept.reserve(entries.size() + 1);
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(kept),
               [](const Ref<NodeHook::Entry>& each) { return !each->has_ended.load(); });
  entries.swap(kept);
  ends_seen = ends;
}

}  // namespace

NodeHook::NodeHook(Function function) : NodeHook(std::move(function), false) {}

NodeHook::NodeHook(Function function, bool detects_anomaly) {
  Entries& entries = entries_of_thread();
  drop_ended(entries);
  entry_ = Ref<Entry>(new Entry(std::move(function), detects_anomaly));
  entries.push_back(entry_);
}

NodeHook::~NodeHook() {
  entry_->has_ended = true;
  Entries& entries = entries_of_thread();
  const auto found = std::find(entries.rbegin(), entries.rend(), entry_);  // mostly the latest
  if (found == entries.rend()) {
    ++ends_elsewhere;
  } else {
    entries.erase(std::next(found).base());
  }
}

const NodeHook::Entries& NodeHook::of_this_thread() noexcept {
  return entries_of_thread();
}

void NodeHook::call(const Entries& hooks, const Node& node, std::span<Tensor> gradients) {
  for (std::size_t i = hooks.size(); i-- > 0;) {
    if (!hooks[i]->has_ended) hooks[i]->function(node, gradients);
  }
}

}  // namespace tend::autograd
