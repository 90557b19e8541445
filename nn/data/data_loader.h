// DataLoader: loops over the batches of a dataset, which threads can make in advance.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <tend/autograd/graph/timeline.h>
#include <tend/core/base/error.h>
#include <tend/nn/data/collate.h>
#include <tend/nn/data/dataset.h>
#include <tend/nn/data/loader_options.h>
#include <tend/nn/data/pass.h>
#include <tend/nn/data/sampler.h>
#include <tend/nn/module/state_dict.h>

namespace tend::data {

/// Makes batches of the examples of a dataset. Each loop over the loader visits every example once:
///
///     data::DataLoader loader(data::TensorDataset(x, y), {.batch_size = 32, .shuffle = true});
///     for (auto& [inputs, targets] : loader) ...
///
/// The dataset is copied or moved into the loader, or given as a shared_ptr. `collate` is a
/// function that makes a batch from a vector of examples. By default it is default_collate.
/// PyTorch: torch.utils.data.DataLoader; there is no batch_size=None.
///
/// With the same seed, the order is the same as PyTorch's. Each loop first uses one random number
/// of the generator, and then the numbers that its sampler needs.
///
/// The batches are the same for any number of workers, with one exception: workers read an iterable
/// dataset ahead. If a loop ends early and the dataset has no reset(), the next loop continues
/// after the examples that were read ahead.
///
/// Batches are made without grad, in any grad mode of the loop's thread. A dataset that needs
/// random numbers must use the generator that it gets in `get(i, generator)`. Numbers from the
/// default generator would depend on the threads.
///
/// If get, next or collate throws, the loop throws at that batch; for the first batch, begin()
/// throws. The message names the batch and the index, and the original exception is nested. An
/// error of tend keeps its class, and any other std::exception becomes an Error. An exception of
/// another type is thrown as it is. The loop's iterator can continue after the batch. If a sampler
/// throws, the loop throws immediately. With workers, the sampler is some batches ahead of the
/// loop.
///
/// When the loop ends, its workers complete the batches that they are making, and end. Loops over a
/// map-style dataset may overlap; loops over an iterable one must not.
///
/// Throws:
///   Error - options contradict each other, or an empty dataset is to be shuffled
///   Error - the dataset is a null pointer
template <class D, class Collate = DefaultCollate>
class DataLoader {
  static_assert(MapDataset<D> || IterableDataset<D>,
                "a dataset needs const size() and get(i), or next(), which returns an optional");
  static_assert(
      std::invocable<const Collate&, const std::vector<Example<D>>&>,
      "collate is called with a vector of examples; a sampler is an option, {.sampler = s}");
  using Pass = detail::Pass<D, Collate>;
  using Owned = detail::OwnedDataset<D>;

 public:
  using Batch = typename Pass::Batch;

  /// Iterates over the batches of one loop. It can be moved but not copied.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) { ++*this; }
    /// The batch. If the last ++ threw, there is no batch, and the iterator is equal to end() until
    /// the next ++.
    ///
    /// Throws: Error - there is no batch
    Batch& operator*() const {
      if (!batch_) fail("DataLoader", "the iterator has no batch here");
      return *batch_;
    }
    Batch* operator->() const { return &**this; }
    Iterator& operator++() {
      const autograd::ProfiledPart part("DataLoader");
      batch_.reset();
      batch_ = pass_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return !it.batch_; }

   private:
    std::unique_ptr<Pass> pass_;
    mutable std::optional<Batch> batch_;
  };

  explicit DataLoader(std::shared_ptr<Owned> dataset, DataLoaderOptions options = {},
                      Collate collate = {})
      : dataset_(std::move(dataset)), options_(std::move(options)), collate_(std::move(collate)) {
    if (!dataset_) fail("DataLoader", "the dataset is a null pointer");
    position_ = std::make_shared<detail::LoopPosition>();
    position_->examples = detail::examples_of<D>(*dataset_);
    detail::check_options(options_, position_->examples);
    if constexpr (MapDataset<D>) detail::batches_of(options_, position_->examples);
  }
  explicit DataLoader(D dataset, DataLoaderOptions options = {}, Collate collate = {})
      : DataLoader(std::make_shared<Owned>(std::move(dataset)), std::move(options),
                   std::move(collate)) {}

  /// The number of batches of a loop.
  std::int64_t size() const requires MapDataset<D> {
    return detail::batches_of(options_, dataset_->size()).size();
  }

  /// Begins a loop and makes its first batch. The loop uses the size that the dataset has now.
  ///
  /// If the loop cannot begin, the loader's position does not change, but the generators may have.
  Iterator begin() {
    auto pass = std::make_unique<Pass>(dataset_, collate_, options_, *position_);
    position_ = pass->position();
    return Iterator(std::move(pass));
  }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// The position of the loop that began last.
  ///
  /// The keys and their values:
  /// - "running": true within a loop, false between two loops
  /// - "batches": the number of batches that the loop has given
  /// - "examples": the size of the dataset; -1 if it is iterable
  /// - "batch_size": the size of a batch
  /// - "order": 0 for the order of the dataset, 1 with shuffle, 2 with a sampler, 3 with a
  ///   batch_sampler
  /// - "generator.loader", "generator.sampler", "generator.default": the states of the generators
  ///   at the loop's start, or their present states between two loops
  ///
  /// The loader's or the sampler's state is missing if the user gave no such generator.
  nn::StateDict state_dict() const { return detail::state_of(*position_, options_); }
  /// Loads a state_dict(), so that the next loop continues after the batches that were already
  /// given.
  ///
  /// The further batches have the same bits if nothing else within the loop uses the loop's
  /// generators. The generators of options and samplers get their saved states. The default
  /// generator does not change: a program that resumes restores it itself, with set_rng_state().
  /// Examples of a map-style dataset that were given before are not read again. An iterable dataset
  /// is read from the beginning and must give the same examples. The loader does not check that a
  /// sampler or batch_sampler gives the same batches.
  ///
  /// Loops that are already running no longer change state_dict(). Nothing has changed after an
  /// error.
  ///
  /// Throws:
  ///   IndexError - an entry is missing
  ///   IoError    - an entry is not the state of a generator
  ///   Error      - the state is from a loader with other generators
  ///   Error      - the state is from the middle of a loop with another size of the dataset,
  ///                batch_size or order
  void load_state_dict(const nn::StateDict& state) {
    position_ = std::make_shared<detail::LoopPosition>(
        detail::position_of(state, options_, detail::examples_of<D>(*dataset_)));
  }
  /// True between load_state_dict() and the next begin().
  bool has_loaded_position() const noexcept { return position_->is_loaded; }

 private:
  std::shared_ptr<Owned> dataset_;
  DataLoaderOptions options_;
  Collate collate_;
  std::shared_ptr<detail::LoopPosition> position_;  // shared with the last loop
};

template <class D, class Collate = DefaultCollate>
DataLoader(D, DataLoaderOptions = {}, Collate = {}) -> DataLoader<D, Collate>;
template <class D, class Collate = DefaultCollate>
DataLoader(std::shared_ptr<D>, DataLoaderOptions = {}, Collate = {})
    -> DataLoader<std::remove_const_t<D>, Collate>;

}  // namespace tend::data
