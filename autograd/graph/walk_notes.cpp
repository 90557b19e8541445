#include <tend/autograd/graph/walk_notes.h>

#include <algorithm>
#include <cassert>

namespace tend {
namespace {

constinit thread_local WalkNotes* innermost_walk = nullptr;

}  // namespace

WalkNotes::WalkNotes() noexcept : outer_(std::exchange(innermost_walk, this)) {}

WalkNotes::~WalkNotes() {
  innermost_walk = outer_;
}

WalkNotes& WalkNotes::current() noexcept {
  assert(innermost_walk != nullptr);
  return *innermost_walk;
}

Tensor WalkNotes::take(const void* key) noexcept {
  const auto found = std::find_if(notes_.rbegin(), notes_.rend(),
                                  [key](const auto& note) { return note.first == key; });
  if (found == notes_.rend()) return {};
  Tensor note = std::move(found->second);
  notes_.erase(std::prev(found.base()));
  return note;
}

}  // namespace tend
