// The options of a DataLoader, and its position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <tend/core/random/random.h>
#include <tend/nn/data/sampler.h>
#include <tend/nn/module/state_dict.h>

namespace tend::data {

/// As torch.utils.data.DataLoader's arguments.
struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  /// In random order, a new one for each pass.
  bool shuffle = false;
  /// The order of the examples, instead of shuffle.
  std::optional<Sampler> sampler = std::nullopt;
  /// The batches themselves, instead of batch_size, shuffle, sampler and drop_last.
  std::optional<IndexListSampler> batch_sampler = std::nullopt;
  /// Threads that make batches ahead of the loop; 0 makes them in the loop's own thread.
  std::int64_t num_workers = 0;
  /// Leave out a last batch that is smaller.
  bool drop_last = false;
  /// How many batches for each worker are on their way at once.
  std::int64_t prefetch_factor = 2;
  /// It must live as long as the loader and its loops; null is the default generator.
  Generator* generator = nullptr;
};

namespace detail {

/// The position of a loader: what its last loop began with, and how many batches it has given.
class LoaderState {
 public:
  // The user's own generators (of the options and of the sampler), and after them the default one.
  static constexpr std::size_t kOwn = 2;
  using Generators = std::array<std::optional<Generator>, kOwn + 1>;

  /// The beginning of a loop.
  struct Start {
    Generators generators;
    std::int64_t batches = 0;  // to be skipped
    bool is_loaded = false;    // it was given to load()
  };

  /// `size` is the dataset's, none for an iterable one; `sampler` the generator that the sampler
  /// draws from, null for none.
  LoaderState(const DataLoaderOptions& options, std::optional<std::int64_t> size,
              Generator* sampler);

  /// Where the next loop begins. If that was loaded, the user's own generators are set to it.
  Start start() const;
  /// A loop has begun so, and is the last one from now on. Returns its number.
  std::uint64_t begin(const Start& start);
  /// A loop has given so many batches. Only the last loop counts.
  void count(std::uint64_t loop, std::int64_t batches) noexcept {
    if (loop == loop_) batches_ = batches;
  }
  /// After the last batch: the next loop is a new one.
  void end(std::uint64_t loop) noexcept {
    count(loop, 0);
    if (loop == loop_) running_ = false;
  }

  /// How many states were loaded.
  std::uint64_t loads() const noexcept { return loads_; }

  /// The next loop goes over so many examples; Error if a position was loaded within a loop over
  /// another number.
  void set_examples(std::int64_t examples);
  nn::StateDict to_dict() const;
  /// Error for what to_dict() of such a loader, over so many examples, cannot have given; nothing
  /// has changed then.
  void load(const nn::StateDict& state, std::int64_t examples);

 private:
  Generators current() const;
  void set_own(const Generators& generators) const;

  std::array<Generator*, kOwn> own_;
  std::int64_t examples_, batch_size_;  // as to_dict() has them
  bool drops_last_;
  std::int64_t order_;   // as to_dict() has it
  Generators at_start_;  // of the last loop
  std::int64_t batches_ = 0;
  bool running_ = false, loaded_ = false;
  std::uint64_t loop_ = 0, loads_ = 0;
};

/// Error for options that contradict each other. `size` is the dataset's, none for an iterable one.
void check_options(const DataLoaderOptions& options, std::optional<std::int64_t> size);
/// The batches of a map-style dataset of this size.
IndexListSampler batches_of(const DataLoaderOptions& options, std::int64_t size);

}  // namespace detail
}  // namespace tend::data
