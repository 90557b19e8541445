// Batches without end, for loops that count steps.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/base/error.h>

#pragma GCC visibility push(default)

namespace tend::data {

/// The batches of a DataLoader, pass after pass. The loader is referred to; its state_dict() is
/// where the next batch comes from, so a run that loads it goes on there.
///
///     data::Endless batches(loader);
///     for (int step = 0; step < 1000; ++step) auto& [x, y] = batches.next();
template <class Loader>
class Endless {
 public:
  using Batch = typename Loader::Batch;

  explicit Endless(Loader& loader) : loader_(&loader) {}

  /// The next batch, which stays until the one after it is asked for. Error for a loader without
  /// batches.
  Batch& next() {
    if (at_) ++*at_;
    // A pass may be over at once: a loader that goes on behind its last batch begins with that.
    for (int passes = 0; !at_ || *at_ == loader_->end(); ++passes) {
      if (passes == 2) fail("Endless", "the loader has no batches");
      at_.emplace(loader_->begin());
    }
    return **at_;
  }

 private:
  Loader* loader_;
  std::optional<typename Loader::Iterator> at_;
};

}  // namespace tend::data

#pragma GCC visibility pop
