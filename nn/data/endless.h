// Endless: batches without end, for loops that count steps.
#pragma once

#include <optional>

#include <tend/core/base/error.h>

namespace tend::data {

/// The batches of a DataLoader, loop after loop.
///
///     data::Endless batches(loader);
///     for (int step = 0; step < 1000; ++step) auto& [x, y] = batches.next();
///
/// An Endless refers to the loader. The loader's state_dict() has the position of the next batch.
/// After the loader's load_state_dict(), next() continues from the loaded position.
template <class Loader>
class Endless {
 public:
  using Batch = typename Loader::Batch;

  explicit Endless(Loader& loader) : loader_(&loader) {}

  /// The next batch, which is valid until the next call.
  ///
  /// Throws: Error - the loader has no batches
  Batch& next() {
    if (at_ && loader_->has_loaded_position()) at_.reset();
    if (at_) ++*at_;
    // If the loaded position is after the last batch, the first loop is empty. So try two loops.
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
