// What one node leaves for another that the same walk over the graph visits later.
#pragma once

#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// The notes of one walk. A graph may be walked by several threads at once, and by a hook within a
/// walk, so what belongs to a walk cannot be kept in the graph. What is never taken ends with the
/// walk.
class WalkNotes {
 public:
  WalkNotes() noexcept;
  ~WalkNotes();
  WalkNotes(const WalkNotes&) = delete;
  WalkNotes& operator=(const WalkNotes&) = delete;

  /// Those of the innermost walk on this thread, which must be going backward.
  static WalkNotes& current() noexcept;

  /// Leaves `note` under `key`.
  void leave(const void* key, Tensor note) { notes_.emplace_back(key, std::move(note)); }
  /// What was left under `key` last, which is then no longer there; undefined where there is none.
  Tensor take(const void* key) noexcept;

 private:
  std::vector<std::pair<const void*, Tensor>> notes_;
  WalkNotes* outer_;
};

}  // namespace tend
