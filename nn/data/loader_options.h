// The options of a DataLoader, and its position.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <tend/core/random/random.h>
#include <tend/nn/data/sampler.h>
#include <tend/nn/module/state_dict.h>

namespace tend::data {

/// As torch.utils.data.DataLoader's arguments, in their order.
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
  /// It must live as long as the loader and its loops; null is the default generator.
  Generator* generator = nullptr;
  /// How many batches for each worker are on their way at once.
  std::int64_t prefetch_factor = 2;
};

namespace detail {

/// The position of a loop over a loader.
struct LoopPosition {
  /// At the loop's start: the user's generators, of the options and of the sampler, and the default
  /// one.
  std::array<std::optional<Generator>, 3> generators;
  std::int64_t examples = -1;  // of the dataset; -1 for an iterable one
  std::int64_t batches = 0;    // that the loop has given
  bool is_running = false;     // false before the first batch of a loop and after the last one
  bool is_loaded = false;      // from a state; the next loop begins here
};

/// Where the next loop begins. If `last` was loaded from within a loop, sets the user's generators
/// as they were at the start of that loop.
LoopPosition begin_loop(const LoopPosition& last, const DataLoaderOptions& options,
                        std::int64_t examples);
nn::StateDict state_of(const LoopPosition& position, const DataLoaderOptions& options);
/// The position that state_of() gave. Sets the user's generators.
/// Throws: as DataLoader::load_state_dict
LoopPosition position_of(const nn::StateDict& state, const DataLoaderOptions& options,
                         std::int64_t examples);

/// Error for options that contradict each other. `examples` is -1 for an iterable dataset.
void check_options(const DataLoaderOptions& options, std::int64_t examples);
/// The batches of a map-style dataset of this size.
IndexListSampler batches_of(const DataLoaderOptions& options, std::int64_t size);

}  // namespace detail
}  // namespace tend::data
