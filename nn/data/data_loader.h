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
/// early leaves an iterable dataset without reset() behind what was read ahead. They are made
/// without grad and outside of inference mode, whatever the loop's thread has; a dataset that draws
/// takes the generator that `get(i, generator)` is given, as the default one's numbers depend on
/// the threads. What get, next or collate throw comes out of the loop at that batch, as the same
/// kind of tend's errors (Error for another std::exception, what is none as itself) with batch and
/// index named, and itself nested; the loop's iterator goes on behind that batch. Workers end with
/// the loop, each after the batch at hand. Loops over a map-style dataset may overlap; those over
/// an iterable one must not.
///
/// Error for options that contradict each other, to shuffle an empty dataset, and of a loader that
/// was moved from. PyTorch: torch.utils.data.DataLoader; there is no batch_size=None.
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
        if (!pass_->has_given()) throw;
        first_error_ = std::current_exception();
      }
    }
    /// Error where there is no batch: behind the last one, after a ++ that threw (it compares equal
    /// to end() until the next ++), or where the iterator was moved from.
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

  /// Begins a loop, with its first batch; what get, next or collate throw there comes out when the
  /// loop first asks for that batch. When the loop cannot begin, the loader stands where it stood;
  /// an iterable dataset without reset() has given what it gave, and what was drawn from the
  /// default generator stays drawn. The loop is over the size that the dataset has now.
  Iterator begin() {
    const std::function<void()> undo = remember();
    try {
      follow_size();
      return Iterator(std::make_unique<Pass>(dataset_, batches_, collate_, options_, state_));
    } catch (...) {
      undo();
      throw;
    }
  }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// Where the loop that began last stands: how many batches it has given, the sizes of the dataset
  /// and of a batch, what decides the order, and the generators at its start, as int64 tensors.
  /// Behind its last batch, the loader stands between two loops.
  nn::StateDict state_dict() const { return state().to_dict(); }
  /// The next loop begins behind the batches that a loop of a loader like this had given, with the
  /// same bits from there on, if within a loop nothing else draws from its generators. Generators
  /// of options and samplers are set as they were. The default generator stays as the program has
  /// it; a program that resumes sets it to its own checkpoint's get_rng_state(). Examples of a
  /// map-style dataset are not read again; an iterable one must give the same ones as then. Error
  /// (IndexError for an entry that is missing, IoError for a generator's state that is none) for
  /// the state of another kind of loader, and for one from the middle of a loop over a dataset of
  /// another size, with another batch_size, or whose order was decided otherwise (what a sampler or
  /// batch_sampler gives is not compared); nothing has changed then.
  void load_state_dict(const nn::StateDict& state) { this->state().load(state, size_now()); }
  /// A function that puts the loader back to where it is now, and with it a loop that runs: for a
  /// RunState whose loading fails.
  std::function<void()> remember() const {
    static_cast<void>(state());
    return detail::LoaderState::remember(state_);
  }
  /// How many states were loaded: a loop that was begun before the last of them is no longer the
  /// one that state_dict() tells of.
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
    const std::int64_t size = size_now();
    if (size != batches_for_) {
      detail::check_options(options_, size);
      batches_ = detail::batches_of(options_, size);
      batches_for_ = size;
    }
    state_->set_examples(size);
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
