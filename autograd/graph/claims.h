// Who uses the saved tensors of a graph while backwards run.
#pragma once

#include <cstddef>
#include <vector>

#include <tend/core/memory/pool.h>

namespace tend {

class Node;

/// The claim of one backward on the saved tensors that it will read, so that no other backward
/// frees them meanwhile. A backward that frees them itself must be their only user; those that
/// retain them may share. No thread waits: the second to come gets the error.
///
/// Where a hook or a Function goes backward in the middle of a backward, on the same thread, the
/// outer one is suspended: the inner one may share what the outer has, and may free what the outer
/// will not read any more.
class Claims {
 public:
  /// The claims of a backward that begins on this thread, inside of those that are running there.
  /// `frees`: it will free what it has read.
  explicit Claims(bool frees) noexcept;
  /// Gives back what was not freed.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// Adds a node to be claimed, which must outlive this. Latest nodes first.
  void add(Node& node) { entries_.push_back({&node}); }
  /// Reserves memory for `count` nodes.
  void reserve(std::size_t count) { entries_.reserve(count); }
  /// Claims all nodes that were added. AutogradError, and nothing is claimed, when the saved
  /// tensors of one were freed, will be freed by another backward, or would be freed here while
  /// another backward needs them.
  void take();
  /// To be called when this backward will not read any more what `node` saved.
  void pass(const Node& node) noexcept;

 private:
  struct Entry {
    Node* node;
    bool is_held = false;
  };

  void take(Entry& entry);
  void give_back(Entry& entry) noexcept;
  Entry* find(const Node& node) noexcept;
  // Whether a backward around this one will free what the node saved, and has not done so yet.
  bool outer_will_free(const Node& node) const noexcept;
  // Gives back the claims of those backwards around this one that have passed the node.
  void release_outer(const Node& node) noexcept;

  bool frees_;
  Claims* outer_;
  std::vector<Entry, PoolAllocator<Entry>> entries_;
  std::size_t next_ = 0;  // index of the first entry that was not passed
  std::size_t held_ = 0;  // the number of held entries
};

}  // namespace tend
