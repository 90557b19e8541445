// DataLoader: batches of a dataset, made ahead by threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
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
/// Batches are made without grad and outside of inference mode, whatever the loop's thread has. A
/// dataset that draws random numbers uses the generator that `get(i, generator)` is given, as the
/// default one's numbers depend on the threads.
///
/// An error of get, next or collate comes out of the loop at that batch, as the same kind of tend's
/// errors (Error for another std::exception, anything else as itself) with batch and index named,
/// and itself nested; the loop's iterator continues after that batch. Workers end with the loop,
/// each after the batch at hand. Loops over a map-style dataset may overlap; those over an iterable
/// one must not.
///
/// Throws: Error  - options contradict each other, an empty dataset is to be shuffled
///                - the loader was moved from
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

    explicit Iterator(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) {
      try {
        ++*this;
      } catch (...) {
        first_error_ = std::current_exception();
      }
    }
    /// Error if there is no batch: after the last one, after a ++ that threw (the iterator compares
    /// equal to end() until the next ++), or if the iterator was moved from.
    Batch& operator*() const {
      throw_first();
      if (!pass_ || !batch_) fail("DataLoader", "the iterator has no batch here");
      return *batch_;
    }
    Batch* operator->() const { return &**this; }
    Iterator& operator++() {
      if (!pass_) fail("DataLoader", "the iterator was moved from");
      first_error_ = nullptr;
      const autograd::ProfiledPart part("DataLoader");
      batch_.reset();
      batch_ = pass_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) {
      it.throw_first();
      return !it.batch_;
    }

   private:
    void throw_first() const {
      if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
    }

    std::unique_ptr<Pass> pass_;
    mutable std::optional<Batch> batch_;
    mutable std::exception_ptr first_error_;  // of the first batch, until it was thrown
  };

  explicit DataLoader(std::shared_ptr<Kept> dataset, DataLoaderOptions options = {},
                      Collate collate = {})
      : dataset_(std::move(dataset)), options_(std::move(options)), collate_(std::move(collate)) {
    if (!dataset_) fail("DataLoader", "the dataset is a null pointer");
    std::optional<std::int64_t> size;
    if constexpr (MapDataset<D>) size = dataset_->size();
    detail::check_options(options_, size);
    if constexpr (MapDataset<D>) batches_ = detail::batches_of(options_, *size);
    batches_for_ = size.value_or(-1);
    state_ = std::make_shared<detail::LoaderState>(options_, size,
                                                   batches_ ? batches_->generator() : nullptr);
  }
  explicit DataLoader(D dataset, DataLoaderOptions options = {}, Collate collate = {})
      : DataLoader(std::make_shared<Kept>(std::move(dataset)), std::move(options),
                   std::move(collate)) {}

  /// A copy shares the dataset, and has a place of its own.
  DataLoader(const DataLoader& other)
      : dataset_(other.dataset_),
        options_(other.options_),
        collate_(other.collate_),
        batches_(other.batches_),
        batches_for_(other.batches_for_),
        state_(std::make_shared<detail::LoaderState>(other.state())) {}
  DataLoader(DataLoader&&) noexcept = default;
  DataLoader& operator=(const DataLoader& other) { return *this = DataLoader(other); }
  DataLoader& operator=(DataLoader&&) noexcept = default;
  ~DataLoader() = default;

  /// The number of batches of a loop.
  std::int64_t size() const requires MapDataset<D> {
    static_cast<void>(state());
    const std::int64_t size = dataset_->size();
    return size == batches_for_ ? batches_->size() : detail::batches_of(options_, size).size();
  }

  /// Begins a loop, over the size that the dataset has now, and makes its first batch. An error of
  /// that batch comes out when the loop first asks for it. If the loop cannot begin, the loader's
  /// position stays; what was drawn from generators stays drawn.
  Iterator begin() {
    follow_size();
    return Iterator(std::make_unique<Pass>(dataset_, batches_, collate_, options_, state_));
  }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// The position of the loop that began last, as int64 tensors: how many batches it has given, the
  /// sizes of the dataset and of a batch, what decides the order, and the generators at its start.
  /// After its last batch, the loader is between two loops.
  nn::StateDict state_dict() const { return state().to_dict(); }
  /// The next loop begins after the batches that a loop of a loader like this had given, with the
  /// same bits from there on, if within a loop nothing else draws from its generators. Generators
  /// of options and samplers are set as they were. The default generator stays as the program has
  /// it; a program that resumes sets it to its own checkpoint's get_rng_state(). Examples of a
  /// map-style dataset are not read again; an iterable one must give the same ones as then. (The
  /// batches that a sampler or batch_sampler gives are not compared.) On an error nothing has
  /// changed.
  /// Throws: IndexError  - an entry is missing
  ///         IoError     - the state of a generator is not one
  ///         Error       - the state is of another kind of loader, or from the middle of a loop
  ///         over
  ///                       a dataset of another size, with another batch_size or order
  void load_state_dict(const nn::StateDict& state) { this->state().load(state, size_now()); }
  /// How many states were loaded. state_dict() does not report loops that were begun before the
  /// last of them.
  std::uint64_t loads() const { return state().loads(); }

 private:
  detail::LoaderState& state() const {
    if (!state_) fail("DataLoader", "was moved from");
    return *state_;
  }

  std::int64_t size_now() const {
    if constexpr (MapDataset<D>) return dataset_->size();
    return -1;
  }
  // A dataset that others have, too, may have grown.
  void follow_size() {
    detail::LoaderState& own = state();
    const std::int64_t size = size_now();
    if (size != batches_for_) {
      detail::check_options(options_, size);
      batches_ = detail::batches_of(options_, size);
      batches_for_ = size;
    }
    own.set_examples(size);
  }

  std::shared_ptr<Kept> dataset_;
  DataLoaderOptions options_;
  Collate collate_;
  std::optional<IndexListSampler> batches_;
  std::int64_t batches_for_ = -1;  // the size of a map-style dataset
  std::shared_ptr<detail::LoaderState> state_;
};

template <class D, class Collate = DefaultCollate>
DataLoader(D, DataLoaderOptions = {}, Collate = {}) -> DataLoader<D, Collate>;
template <class D, class Collate = DefaultCollate>
DataLoader(std::shared_ptr<D>, DataLoaderOptions = {}, Collate = {})
    -> DataLoader<std::remove_const_t<D>, Collate>;

}  // namespace tend::data
