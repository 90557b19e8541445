#include <tend/autograd/graph/hooks.h>

#include <algorithm>
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

}  // namespace

NodeHook::NodeHook(Function function) : NodeHook(std::move(function), false) {}

NodeHook::NodeHook(Function function, bool detects_anomaly) {
  with_memory([&] {
    // Hooks that ended on another thread are still listed here.
    std::erase_if(entries_of_thread(),
                  [](const Ref<Entry>& each) { return each->has_ended.load(); });
    entry_ = Ref<Entry>(new Entry(std::move(function), detects_anomaly));
    entries_of_thread().push_back(entry_);
  });
}

NodeHook::~NodeHook() {
  entry_->has_ended = true;
  std::erase(entries_of_thread(), entry_);
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
