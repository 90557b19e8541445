// Batches without end, for loops that count steps.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/base/error.h>

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
    if (at_ && has_loaded()) at_.reset();
    if (at_) ++*at_;
    // A pass may be over at once: a loader that goes on behind its last batch begins with that.
    for (int passes = 0; !at_ || *at_ == loader_->end(); ++passes) {
      if (passes == 2) fail("Endless", "the loader has no batches");
      at_.emplace(loader_->begin());
      if constexpr (kTellsLoads) loads_ = loader_->loads();
    }
    return **at_;
  }

 private:
  static constexpr bool kTellsLoads = requires(const Loader& loader) { loader.loads(); };

  // Whether the pass at hand was begun before the loader's last load_state_dict().
  bool has_loaded() const {
    if constexpr (kTellsLoads) return loads_ != loader_->loads();
    return false;
  }

  Loader* loader_;
  std::uint64_t loads_ = 0;  // when the pass began
  std::optional<typename Loader::Iterator> at_;
};

}  // namespace tend::data
