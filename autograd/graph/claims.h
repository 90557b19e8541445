// Who uses the saved tensors of a graph while backwards run.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tend/core/memory/pool.h>

namespace tend {

class Node;

/// The claim of one backward on the saved tensors that it will read, so that no other backward
/// frees them meanwhile. One that frees them itself must be their only user, one that retains them
/// may share. Nobody waits: the second to come gets the error.
///
/// Where a hook or a Function goes backward in the middle of a backward, on the same thread, the
/// outer one is suspended: the inner one may share what the outer has, and may free what the outer
/// will not read any more.
class Claims {
 public:
  /// Of the latest backward on this thread, within those before.
  explicit Claims(bool frees) noexcept;
  /// Gives back what was not freed.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// To be claimed, latest nodes first; it must outlive the claim.
  void add(Node& node) { entries_.push_back({&node}); }
  /// Room for so many.
  void reserve(std::size_t count) { entries_.reserve(count); }
  /// Claims all that was added. AutogradError, and nothing is claimed, when one was freed, would be
  /// freed by another backward, or is to be freed here while another needs it.
  void take();
  /// This backward will not read any more what `node` saved.
  void pass(const Node& node) noexcept;

 private:
  struct Entry {
    Node* node;
    bool is_held = false;
  };

  void take(Entry& entry);
  void give_back(Entry& entry) noexcept;
  Entry* find(const Node& node) noexcept;
  // Of the backwards around this one: whether one is to free what the node saved, and has not yet.
  bool outer_will_free(const Node& node) const noexcept;
  // Takes back the claims of those that are past the node.
  void release_outer(const Node& node) noexcept;

  bool frees_;
  Claims* outer_;
  std::vector<Entry, PoolAllocator<Entry>> entries_;
  std::size_t next_ = 0;  // the first that was not passed
  std::size_t held_ = 0;  // how many are held
};

}  // namespace tend
