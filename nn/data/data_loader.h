// DataLoader: batches of a dataset, made ahead by threads.
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

/// Batches of a dataset, in each loop over it once:
///
///     data::DataLoader loader(data::TensorDataset(x, y), {.batch_size = 32, .shuffle = true});
///     for (auto& [inputs, targets] : loader) ...
///
/// The dataset is copied or moved into the loader; a large one is moved, or given as a shared_ptr.
/// What `collate`, a function of a vector of examples, returns is a batch; without one it is
/// default_collate's result.
///
/// The order is PyTorch's, seed for seed: each loop draws a number from the generator, then what
/// its sampler draws. The batches are the same for any number of workers; but a loop that ends
/// early leaves an iterable dataset without reset() after what was read ahead.
///
/// Batches are made without grad, whatever the loop's thread has. A dataset that draws random
/// numbers uses the generator that `get(i, generator)` is given, as the default one's numbers
/// depend on the threads.
///
/// An error of get, next or collate comes out of the loop at that batch, as the same kind of tend's
/// errors (Error for another std::exception, anything else as itself) with batch and index named,
/// and itself nested; the loop's iterator continues after that batch. An error of the first batch
/// comes out of begin(). A sampler's error comes out when it is asked, with workers some batches
/// ahead. Workers end with the loop, each after the batch at hand. Loops over a
/// map-style dataset may overlap; those over an iterable one must not.
///
/// Throws: Error  - options contradict each other, an empty dataset is to be shuffled
/// PyTorch: torch.utils.data.DataLoader; there is no batch_size=None.
template <class D, class Collate = DefaultCollate>
class DataLoader {
  static_assert(MapDataset<D> || IterableDataset<D>,
                "a dataset has size() and get(i), both const, or next(), which gives an optional");
  static_assert(
      std::invocable<const Collate&, const std::vector<Example<D>>&>,
      "collate is called with a vector of examples; a sampler is an option, {.sampler = s}");
  using Pass = detail::Pass<D, Collate>;
  using Kept = detail::Kept<D>;

 public:
  using Batch = typename Pass::Batch;

  /// The batches of one loop; it can be moved, not copied.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) { ++*this; }
    /// Error if there is no batch: after the last one, or after a ++ that threw (the iterator
    /// compares equal to end() until the next ++).
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

  explicit DataLoader(std::shared_ptr<Kept> dataset, DataLoaderOptions options = {},
                      Collate collate = {})
      : dataset_(std::move(dataset)), options_(std::move(options)), collate_(std::move(collate)) {
    if (!dataset_) fail("DataLoader", "the dataset is a null pointer");
    position_ = std::make_shared<detail::LoopPosition>();
    position_->examples = detail::examples_of<D>(*dataset_);
    detail::check_options(options_, position_->examples);
    if constexpr (MapDataset<D>) detail::batches_of(options_, position_->examples);
  }
  explicit DataLoader(D dataset, DataLoaderOptions options = {}, Collate collate = {})
      : DataLoader(std::make_shared<Kept>(std::move(dataset)), std::move(options),
                   std::move(collate)) {}

  /// The number of batches of a loop.
  std::int64_t size() const requires MapDataset<D> {
    return detail::batches_of(options_, dataset_->size()).size();
  }

  /// Begins a loop, over the size that the dataset has now, and makes its first batch. If the loop
  /// cannot begin, the loader's position stays; what was drawn from generators stays drawn.
  Iterator begin() {
    auto pass = std::make_unique<Pass>(dataset_, collate_, options_, *position_);
    position_ = pass->position();
    return Iterator(std::move(pass));
  }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// The position of the loop that began last, as int64 tensors: how many batches it has given, the
  /// sizes of the dataset and of a batch, what decides the order (0: nothing, 1: shuffle, 2: a
  /// sampler, 3: a batch_sampler), and the generators at its start. After its last batch, the
  /// loader is between two loops.
  nn::StateDict state_dict() const { return detail::state_of(*position_, options_); }
  /// The next loop begins after the batches that a loop of a loader like this had given, with the
  /// same bits from there on, if within a loop nothing else draws from its generators. Generators
  /// of options and samplers are set as they were. The default generator stays as the program has
  /// it; a program that resumes sets it to its own checkpoint's get_rng_state(). Examples of a
  /// map-style dataset are not read again; an iterable one must give the same ones as then. (The
  /// batches that a sampler or batch_sampler gives are not compared.) Loops that are running do not
  /// change state_dict() any more. On an error nothing has changed.
  /// Throws: IndexError  - an entry is missing
  ///         IoError     - the state of a generator is not one
  ///         Error       - the state is of another kind of loader, or from the middle of a loop
  ///                       over a dataset of another size, with another batch_size or order
  void load_state_dict(const nn::StateDict& state) {
    position_ = std::make_shared<detail::LoopPosition>(
        detail::position_of(state, options_, detail::examples_of<D>(*dataset_)));
  }
  /// True from load_state_dict() to the next loop's begin.
  bool has_loaded_position() const noexcept { return position_->is_loaded; }

 private:
  std::shared_ptr<Kept> dataset_;
  DataLoaderOptions options_;
  Collate collate_;
  std::shared_ptr<detail::LoopPosition> position_;  // the last loop has it, too
};

template <class D, class Collate = DefaultCollate>
DataLoader(D, DataLoaderOptions = {}, Collate = {}) -> DataLoader<D, Collate>;
template <class D, class Collate = DefaultCollate>
DataLoader(std::shared_ptr<D>, DataLoaderOptions = {}, Collate = {})
    -> DataLoader<std::remove_const_t<D>, Collate>;

}  // namespace tend::data
