// The options of a DataLoader, and where it stands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Where a loader stands within its last pass, and how another one gets there.
class LoaderState {
 public:
  /// `size` is the dataset's, none for an iterable one; `sampler` the generator that the sampler
  /// draws from, null for none.
  LoaderState(const DataLoaderOptions& options, std::optional<std::int64_t> size,
              Generator* sampler);

  /// Starts a pass: remembers the generators, or sets them as load() was told. Returns its number.
  std::uint64_t start();
  /// How many batches a pass that start() has just begun is to skip.
  std::int64_t to_skip() const noexcept { return consumed_; }
  /// The pass has drawn what it draws first: a default generator that load() was told of is put
  /// back to where the program had it.
  void finish_replay();
  /// What a pass has given so far. Only the last pass counts.
  void count(std::uint64_t pass, std::int64_t batches) noexcept {
    if (pass == pass_) consumed_ = batches;
  }
  /// After the last batch: the next pass is a new one.
  void end(std::uint64_t pass) noexcept {
    count(pass, 0);
    if (pass == pass_) running_ = false;
  }

  /// How many states were loaded.
  std::uint64_t loads() const noexcept { return loads_; }

  /// The next pass goes over so many examples; Error where load() was told of a place within a pass
  /// over another number.
  void set_examples(std::int64_t examples);
  nn::StateDict to_dict() const;
  /// Error for what to_dict() of such a loader, over so many examples, cannot have given; nothing
  /// has changed then.
  void load(const nn::StateDict& state, std::int64_t examples);
  /// Sets `state` and its own generators back to what they are now, when what it returns is called.
  static std::function<void()> remember(const std::shared_ptr<LoaderState>& state);

 private:
  // The user's own generators, and behind them the default one.
  static constexpr std::size_t kOwn = 2;
  using Generators = std::array<std::optional<Generator>, kOwn + 1>;
  Generators current() const;

  std::array<Generator*, kOwn> own_;
  std::int64_t examples_, batch_size_;  // as to_dict() has them
  bool drops_last_;
  std::int64_t order_;  // as to_dict() has it
  Generators at_start_;
  std::optional<Generator> meanwhile_;  // the default one during a replay
  std::uint64_t pass_ = 0, loads_ = 0;
  std::int64_t consumed_ = 0;
  bool running_ = false, loaded_ = false;
};

/// Error for options that contradict each other. `size` is the dataset's, none for an iterable one.
void check_options(const DataLoaderOptions& options, std::optional<std::int64_t> size);
/// The batches of a map-style dataset of this size.
IndexListSampler batches_of(const DataLoaderOptions& options, std::int64_t size);

}  // namespace detail
}  // namespace tend::data
