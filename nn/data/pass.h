// One loop over a DataLoader's dataset.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/error.h>
#include <tend/core/random/random.h>
#include <tend/nn/data/dataset.h>
#include <tend/nn/data/loader_options.h>
#include <tend/nn/data/sampler.h>
#include <tend/nn/data/workers.h>

namespace tend::data::detail {

/// The type of the dataset in a loader. A map-style dataset is const, since threads share it. An
/// iterable dataset is not, since reading changes it.
template <class D>
using OwnedDataset = std::conditional_t<MapDataset<D>, const D, D>;

template <class D, class Collate>
using BatchOf = std::decay_t<std::invoke_result_t<const Collate&, const std::vector<Example<D>>&>>;

/// The number of examples of a map-style dataset; -1 for an iterable one.
template <class D>
std::int64_t examples_of(const D& dataset) {
  if constexpr (MapDataset<D>) return dataset.size();
  return -1;
}

/// Makes the batches of one loop and owns the loop's position. Workers make batches ahead of the
/// loop. Only the loop's thread calls the sampler.
template <class D, class Collate>
class Pass {
 public:
  using Batch = BatchOf<D, Collate>;

  /// If `last`, the loader's position, was loaded and is within a loop, the new loop begins there.
  Pass(std::shared_ptr<OwnedDataset<D>> dataset, const Collate& collate,
       const DataLoaderOptions& options, const LoopPosition& last)
      : dataset_(std::move(dataset)),
        collate_(collate),
        options_(options),
        position_(
            std::make_shared<LoopPosition>(begin_loop(last, options, examples_of<D>(*dataset_)))),
        // One thread reads an iterable dataset, so that its examples stay in order.
        workers_(MapDataset<D> ? options.num_workers
                               : std::min<std::int64_t>(options.num_workers, 1)) {
    std::optional<RngStateGuard> guard;
    if (last.is_loaded && last.is_running) {  // the guard restores the default generator
      guard.emplace();
      set_rng_state(*position_->generators.back());
    }
    base_seed_ = static_cast<std::uint64_t>(draw_seed(options.generator));
    if constexpr (MapDataset<D>) {
      stream_ = batches_of(options, position_->examples).iter();
    } else if constexpr (requires { dataset_->reset(); }) {
      const NoGradGuard no_grad;
      dataset_->reset();
    }
    skip(position_->batches);
    start(1);
  }

  ~Pass() = default;
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  const std::shared_ptr<LoopPosition>& position() const noexcept { return position_; }

  /// The next batch, or nullopt at the end. If making a batch failed, this throws the error of that
  /// batch, and the next call continues after the batch.
  std::optional<Batch> next() {
    start(1);
    if (ahead_.empty()) return end();
    const std::shared_ptr<Slot> slot = std::move(ahead_.front());
    ahead_.pop_front();
    if (options_.num_workers == 0) {
      make(*slot);
    } else {
      start(options_.num_workers * options_.prefetch_factor);
      slot->is_made.wait(0);
    }
    if (!slot->error && !slot->batch) return end();
    position_->batches = slot->number + 1;
    if (slot->error) std::rethrow_exception(slot->error);
    return std::move(slot->batch);
  }

 private:
  /// A batch that is being made or is ready. While it is being made, only the worker uses it.
  /// Afterwards, only the loop's thread does.
  struct Slot {
    std::int64_t number;
    IndexList indices;
    std::optional<Batch> batch;  // nullopt after the end of an iterable dataset
    std::exception_ptr error;
    std::atomic<int> is_made = 0;  // 1 when the batch is ready
  };

  std::optional<Batch> end() {
    ended_ = true;
    position_->batches = 0;
    position_->is_running = false;
    return std::nullopt;
  }

  // Skips the batches that an earlier loop has given.
  void skip(std::int64_t batches) {
    for (; started_ < batches && !ended_; ++started_) {
      if constexpr (MapDataset<D>) {
        ended_ = !stream_();
      } else {
        const NoGradGuard no_grad;
        try {
          read();
        } catch (const std::exception&) {
          // The earlier loop threw this error at its batch.
        }
        ended_ = drained_;
      }
    }
  }

  // Starts batches until there are `count` slots.
  void start(std::int64_t count) {
    while (!ended_ && std::ssize(ahead_) < count) {
      const auto slot = std::make_shared<Slot>();
      slot->number = started_;
      if constexpr (MapDataset<D>) {
        std::optional<IndexList> indices = stream_();
        ended_ = !indices;
        if (ended_) return;
        slot->indices = std::move(*indices);
      }
      ++started_;
      ahead_.push_back(slot);
      if (options_.num_workers == 0) continue;
      workers_.add([this, slot] {
        make(*slot);
        slot->is_made = 1;
        slot->is_made.notify_one();
      });
    }
  }

  void make(Slot& slot) noexcept {
    const NoGradGuard no_grad;
    std::optional<std::int64_t> index;  // the index of the example that is being read
    try {
      try {
        const std::vector<Example<D>> examples = examples_of_batch(slot, index);
        index.reset();
        if (is_batch(examples)) slot.batch = collate_(examples);
      } catch (const std::exception& error) {
        fail_at(slot.number, index, error);
      }
    } catch (...) {
      slot.error = std::current_exception();
    }
  }

  // True if the examples are a batch. An iterable dataset may end before or within a batch.
  bool is_batch(const std::vector<Example<D>>& examples) const {
    if (MapDataset<D> || std::ssize(examples) == options_.batch_size) return true;
    return !examples.empty() && !options_.drop_last;
  }

  std::vector<Example<D>> examples_of_batch(const Slot& slot, std::optional<std::int64_t>& index) {
    if constexpr (MapDataset<D>) {
      std::optional<Generator> generator;
      if constexpr (RandomMapDataset<D>)
        generator.emplace(base_seed_ + static_cast<std::uint64_t>(slot.number));
      std::vector<Example<D>> examples;
      examples.reserve(slot.indices.size());
      for (const std::int64_t each : slot.indices) {
        index = each;
        if constexpr (RandomMapDataset<D>) {
          examples.push_back(dataset_->get(each, *generator));
        } else {
          examples.push_back(dataset_->get(each));
        }
      }
      return examples;
    } else {
      return read();
    }
  }

  std::vector<Example<D>> read() {
    std::vector<Example<D>> examples;
    while (!drained_ && std::ssize(examples) < options_.batch_size) {
      auto example = dataset_->next();
      drained_ = !example.has_value();
      if (!drained_) examples.push_back(std::move(*example));
    }
    return examples;
  }

  std::shared_ptr<OwnedDataset<D>> dataset_;
  Collate collate_;
  DataLoaderOptions options_;
  std::shared_ptr<LoopPosition> position_;
  std::uint64_t base_seed_ = 0;
  Stream<IndexList> stream_;
  std::int64_t started_ = 0;  // the number of batches that were started or skipped
  std::deque<std::shared_ptr<Slot>> ahead_;
  bool ended_ = false;    // there is no further batch to start
  bool drained_ = false;  // an iterable dataset has no further example
  Workers workers_;       // the last member, since its threads use the others
};

}  // namespace tend::data::detail
