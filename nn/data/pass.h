// One pass of a DataLoader over its dataset.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/random/random.h>
#include <tend/nn/data/dataset.h>
#include <tend/nn/data/loader_options.h>
#include <tend/nn/data/sampler.h>
#include <tend/nn/data/workers.h>

namespace tend::data::detail {

/// A map-style dataset is shared by threads and stays as it is; reading an iterable one changes it.
template <class D>
using Kept = std::conditional_t<MapDataset<D>, const D, D>;

template <class D, class Collate>
using BatchOf = std::decay_t<std::invoke_result_t<const Collate&, const std::vector<Example<D>>&>>;

/// Makes the batches, ahead of the loop that takes them if there are workers. Only the loop's
/// thread asks the sampler. The batches on their way are in a ring: a slot belongs to the worker
/// from publish() to wait_for(), and to the loop's thread before and after.
template <class D, class Collate>
class Pass {
 public:
  using Batch = BatchOf<D, Collate>;

  Pass(std::shared_ptr<Kept<D>> dataset, const std::optional<IndexListSampler>& batches,
       const Collate& collate, const DataLoaderOptions& options, std::shared_ptr<LoaderState> state)
      : dataset_(std::move(dataset)),
        collate_(collate),
        batch_size_(options.batch_size),
        drop_last_(options.drop_last),
        ring_(static_cast<std::size_t>(
            options.num_workers == 0 ? 1 : options.num_workers * options.prefetch_factor)),
        state_(std::move(state)),
        // An iterable dataset is read by one thread, so that its order stays.
        workers_(
            MapDataset<D> ? options.num_workers : std::min<std::int64_t>(options.num_workers, 1),
            [this](std::uint64_t job) { make(ring_[job % ring_.size()]); }) {
    const LoaderState::Start start = state_->start();
    std::optional<RngStateGuard> guard;
    if (start.is_loaded) {  // the default generator stays as the program has it
      guard.emplace();
      set_rng_state(*start.generators.back());
    }
    base_seed_ = static_cast<std::uint64_t>(draw_seed(options.generator));
    if constexpr (MapDataset<D>) {
      stream_ = batches->iter();
    } else if constexpr (requires { dataset_->reset(); }) {
      const LoadScope scope;
      dataset_->reset();
    }
    skip(start.batches);
    fill();
    number_ = state_->begin(start);
  }

  ~Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// The next batch; none at the end. Throws the error of a batch, and continues after it then.
  std::optional<Batch> next() {
    fill();
    if (taken_ == published_) return end();
    const std::uint64_t job = taken_++;
    workers_.wait_for(job);
    Slot slot = std::exchange(ring_[job % ring_.size()], Slot());
    if (!slot.error && !slot.batch) return end();
    state_->count(number_, slot.number + 1);
    if (slot.error) std::rethrow_exception(slot.error);
    if (workers_.has_threads()) fill();
    return std::move(slot.batch);
  }

 private:
  struct Slot {
    std::int64_t number = 0;
    IndexList indices;
    std::optional<Batch> batch;  // none after the end of an iterable dataset
    std::exception_ptr error;
  };

  std::optional<Batch> end() {
    ended_ = true;
    state_->end(number_);
    return std::nullopt;
  }

  // Leaves out the batches that the loop before has given.
  void skip(std::int64_t batches) {
    for (; first_ < batches && !ended_ && !drained_; ++first_) {
      try {
        if constexpr (MapDataset<D>) {
          ended_ = !stream_();
        } else {
          const LoadScope scope;
          static_cast<void>(read(first_));
        }
      } catch (const OutOfMemoryError&) {
        throw;
      } catch (...) {
        // The batch was an error for the loop before, too. That of a sampler ended it.
        if (MapDataset<D> && first_ + 1 < batches) throw;
        ended_ = MapDataset<D>;
      }
    }
  }

  // Starts batches until the ring is full.
  void fill() {
    while (!ended_ && published_ - taken_ < ring_.size()) {
      Slot& slot = ring_[published_ % ring_.size()];
      slot.number = first_ + static_cast<std::int64_t>(published_);
      if constexpr (MapDataset<D>) {
        if (!ask(slot)) return;
      }
      ++published_;
      workers_.publish();
    }
  }

  // Asks the sampler for the slot's indices; false at its end. Its error is the batch's.
  bool ask(Slot& slot) {
    try {
      std::optional<IndexList> indices = stream_();
      ended_ = !indices;
      if (indices) slot.indices = std::move(*indices);
      return !ended_;
    } catch (...) {
      slot.error = std::current_exception();
      ended_ = true;
      return true;
    }
  }

  void make(Slot& slot) noexcept {
    if (slot.error) return;
    try {
      const LoadScope scope;
      if constexpr (MapDataset<D>) {
        slot.batch = collate(slot.number, pick(slot.number, slot.indices));
      } else {
        std::vector<Example<D>> examples = read(slot.number);
        const bool is_whole = static_cast<std::int64_t>(examples.size()) == batch_size_;
        if (is_whole || (!examples.empty() && !drop_last_))
          slot.batch = collate(slot.number, examples);
      }
    } catch (...) {
      slot.error = std::current_exception();
    }
  }

  Batch collate(std::int64_t number, const std::vector<Example<D>>& examples) const {
    return named(number, std::nullopt, [&] { return collate_(examples); });
  }

  std::vector<Example<D>> pick(std::int64_t number, const IndexList& indices) const {
    std::optional<Generator> generator;
    if constexpr (RandomMapDataset<D>)
      generator.emplace(base_seed_ + static_cast<std::uint64_t>(number));
    std::vector<Example<D>> examples;
    examples.reserve(indices.size());
    for (const std::int64_t index : indices) {
      named(number, index, [&] {
        if constexpr (RandomMapDataset<D>) {
          examples.push_back(dataset_->get(index, *generator));
        } else {
          examples.push_back(dataset_->get(index));
        }
      });
    }
    return examples;
  }

  std::vector<Example<D>> read(std::int64_t number) {
    std::vector<Example<D>> examples;
    while (!drained_ && static_cast<std::int64_t>(examples.size()) < batch_size_) {
      auto example = named(number, std::nullopt, [&] { return dataset_->next(); });
      if (example.has_value()) {
        examples.push_back(std::move(*example));
      } else {
        drained_ = true;
      }
    }
    return examples;
  }

  std::shared_ptr<Kept<D>> dataset_;
  Collate collate_;
  std::int64_t batch_size_;
  bool drop_last_;
  std::vector<Slot> ring_;
  std::shared_ptr<LoaderState> state_;
  std::uint64_t number_ = 0;  // of the loop
  std::uint64_t base_seed_ = 0;
  Stream<IndexList> stream_;
  std::int64_t first_ = 0;                   // the batches that were skipped
  std::uint64_t published_ = 0, taken_ = 0;  // batches that were started, and taken
  bool ended_ = false;                       // nothing more is to be started
  bool drained_ = false;                     // an iterable dataset has nothing more
  Workers workers_;
};

}  // namespace tend::data::detail
