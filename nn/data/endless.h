// Batches without end, for loops that count steps.
#pragma once

#include <optional>

#include <tend/core/base/error.h>

namespace tend::data {

/// The batches of a DataLoader, pass after pass. It refers to the loader, whose state_dict() says
/// where the next batch comes from. After the loader's load_state_dict(), it continues there.
///
///     data::Endless batches(loader);
///     for (int step = 0; step < 1000; ++step) auto& [x, y] = batches.next();
template <class Loader>
class Endless {
 public:
  using Batch = typename Loader::Batch;

  explicit Endless(Loader& loader) : loader_(&loader) {}

  /// The next batch, which is valid until the one after it is asked for. Error for a loader without
  /// batches.
  Batch& next() {
    if (at_ && loader_->has_loaded_position()) at_.reset();
    if (at_) ++*at_;
    // A pass may be over at once, if the loader continues after the last batch.
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
