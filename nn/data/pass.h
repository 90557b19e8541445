// One pass of a DataLoader over its dataset.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
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

/// Makes the batches, ahead of who takes them where there are workers. Only the taking thread asks
/// the sampler. The batches on their way lie in a ring; a slot belongs to the worker that took its
/// number until `done`, then to the taking thread.
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
        number_(state_->start()) {
    struct EndReplay {
      LoaderState& state;
      ~EndReplay() { state.finish_replay(); }
    } const end{*state_};
    base_seed_ = static_cast<std::uint64_t>(draw_seed(options.generator));
    if constexpr (MapDataset<D>) stream_ = batches->iter();
    skip(state_->to_skip());
    if (options.num_workers > 0) {
      // An iterable dataset is read by one thread, so that its order stays.
      workers_ = std::make_unique<Workers>(MapDataset<D> ? options.num_workers : 1,
                                           [this](std::uint64_t job) { run(job); });
    }
    fill();
  }

  ~Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// Whether a batch, or the error in its place, was given.
  bool has_given() const noexcept { return taken_ != 0; }
  /// The next batch; none at the end. Throws what stood in its way, and goes on behind it then.
  std::optional<Batch> next() {
    fill();
    if (taken_ == published_) return end();
    Slot& slot = ring_[taken_ % ring_.size()];
    finish(slot);
    const std::unique_ptr<Made> made = std::move(slot.made);
    ++taken_;
    if (!made->error && !made->batch) return end();
    state_->count(number_, slot.number + 1);
    if (made->error) std::rethrow_exception(made->error);
    if (workers_) fill();
    return std::move(made->batch);
  }

 private:
  struct Made {
    std::optional<Batch> batch;  // none behind the end of an iterable dataset
    std::exception_ptr error;
  };
  struct Slot {
    std::int64_t number = 0;
    IndexList indices;
    std::unique_ptr<Made> made;
    std::atomic<std::uint32_t> done{1};
  };

  std::optional<Batch> end() {
    ended_ = true;
    state_->end(number_);
    return std::nullopt;
  }

  void skip(std::int64_t batches) {
    for (; first_ < batches; ++first_) {
      if constexpr (MapDataset<D>) {
        try {
          ended_ = !stream_();
        } catch (const OutOfMemoryError&) {
          throw;
        } catch (...) {
          // What the sampler throws ends a loop, so that of the loop before came at the last batch.
          if (first_ + 1 < batches) throw;
          ended_ = true;
        }
      } else {
        const LoadScope scope;
        if (first_ == 0) reset();
        try {
          static_cast<void>(read(first_));
        } catch (const OutOfMemoryError&) {
          throw;
        } catch (...) {
          // That batch was an error for the loop before, too, and counted.
        }
      }
      if (ended_ || drained_) return;
    }
    if constexpr (!MapDataset<D>) {
      if (batches == 0) reset();
    }
  }

  void reset() {
    if constexpr (requires { dataset_->reset(); }) dataset_->reset();
  }

  // Starts batches until the ring is full.
  void fill() {
    while (!ended_ && published_ - taken_ < ring_.size()) {
      Slot& slot = ring_[published_ % ring_.size()];
      slot.made = std::make_unique<Made>();
      slot.number = first_ + static_cast<std::int64_t>(published_);
      slot.done = 0;
      if constexpr (MapDataset<D>) {
        if (!ask(slot)) return;
      }
      ++published_;
      if (workers_) workers_->publish();
    }
  }

  // Asks the sampler for the slot's indices; what it throws comes out at this batch.
  bool ask(Slot& slot) {
    try {
      std::optional<IndexList> indices = stream_();
      if (indices) {
        slot.indices = std::move(*indices);
      } else {
        slot.done = 1;
        ended_ = true;
        return false;
      }
    } catch (...) {
      slot.made->error = std::current_exception();
      slot.done = 1;
      ended_ = true;
    }
    return true;
  }

  void run(std::uint64_t job) noexcept {
    Slot& slot = ring_[job % ring_.size()];
    if (slot.done != 0) return;
    make(slot);
    slot.done = 1;
    slot.done.notify_one();
  }

  void finish(Slot& slot) {
    if (workers_ && workers_->are_here()) {
      while (slot.done == 0) slot.done.wait(0);
    } else if (slot.done == 0) {
      make(slot);
      slot.done = 1;
    }
  }

  void make(Slot& slot) noexcept {
    try {
      const LoadScope scope;
      if constexpr (MapDataset<D>) {
        slot.made->batch = collate(slot.number, pick(slot.number, slot.indices));
      } else {
        std::vector<Example<D>> examples = read(slot.number);
        const bool is_whole = static_cast<std::int64_t>(examples.size()) == batch_size_;
        if (is_whole || (!examples.empty() && !drop_last_))
          slot.made->batch = collate(slot.number, examples);
      }
    } catch (...) {
      slot.made->error = std::current_exception();
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
  std::uint64_t number_;
  std::uint64_t base_seed_ = 0;
  Stream<IndexList> stream_;
  std::int64_t first_ = 0;                   // the batches that were skipped
  std::uint64_t published_ = 0, taken_ = 0;  // batches that were started, and taken
  bool ended_ = false;                       // nothing more is to be started
  bool drained_ = false;                     // an iterable dataset has nothing more
  std::unique_ptr<Workers> workers_;
};

}  // namespace tend::data::detail
