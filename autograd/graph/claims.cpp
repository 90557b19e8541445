#include <tend/autograd/graph/claims.h>

#include <algorithm>
#include <mutex>

#include <tend/autograd/graph/node.h>

namespace tend {
namespace {

constinit thread_local Claims* innermost_claims = nullptr;

std::mutex& users_mutex() noexcept {
  static constinit std::mutex mutex;
  return mutex;
}

}  // namespace

Claims::Claims(bool frees) noexcept
    : frees_(frees), outer_(std::exchange(innermost_claims, this)) {}

Claims::~Claims() {
  innermost_claims = outer_;
  if (held_ == 0) return;
  const std::lock_guard lock(users_mutex());
  for (Entry& entry : entries_) give_back(entry);
}

void Claims::take() {
  const std::lock_guard lock(users_mutex());
  try {
    for (Entry& entry : entries_) take(entry);
  } catch (...) {
    for (Entry& entry : entries_) give_back(entry);
    throw;
  }
}

void Claims::take(Entry& entry) {
  Node& node = *entry.node;
  const bool is_outer = node.users_ == Node::kFreed && outer_will_free(node);
  if (is_outer && !frees_) return;  // shared: the outer backward frees it later
  if (node.users_ == Node::kFreed && !is_outer) {
    fail<AutogradError>(
        node.operation(),
        "the graph was freed by an earlier backward; call that one with retain_graph = true");
  }
  if (frees_ && node.users_ > 0) release_outer(node);
  if (frees_ && node.users_ != 0) {
    fail<AutogradError>(node.operation(),
                        "another backward, which is not over, needs the graph that this one would "
                        "free; call this one with retain_graph = true");
  }
  node.users_ = frees_ ? Node::kFreed : node.users_ + 1;
  entry.is_held = true;
  ++held_;
}

void Claims::give_back(Entry& entry) noexcept {
  if (!std::exchange(entry.is_held, false)) return;
  --held_;
  if (!frees_) {
    --entry.node->users_;
  } else if (!entry.node->saved().empty()) {  // the walk ended before it came to this node
    entry.node->users_ = 0;
  }
}

void Claims::pass(const Node& node) noexcept {
  if (next_ == entries_.size() || entries_[next_].node != &node) return;
  Entry& entry = entries_[next_++];
  // What was freed stays freed. No lock is needed: a backward that frees is the only user of the
  // node.
  if (frees_ && node.saved().empty() && std::exchange(entry.is_held, false)) --held_;
}

Claims::Entry* Claims::find(const Node& node) noexcept {
  const auto at = std::lower_bound(
      entries_.begin(), entries_.end(), node.sequence(),
      [](const Entry& entry, std::uint64_t sequence) { return entry.node->sequence() > sequence; });
  return at != entries_.end() && at->node == &node ? &*at : nullptr;
}

bool Claims::outer_will_free(const Node& node) const noexcept {
  for (Claims* each = outer_; each != nullptr; each = each->outer_) {
    const Entry* entry = each->find(node);
    if (each->frees_ && entry != nullptr && entry->is_held) return true;
  }
  return false;
}

void Claims::release_outer(const Node& node) noexcept {
  for (Claims* each = outer_; each != nullptr; each = each->outer_) {
    Entry* entry = each->find(node);
    if (entry != nullptr && entry < &each->entries_[0] + each->next_) each->give_back(*entry);
  }
}

}  // namespace tend
