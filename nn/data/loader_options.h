// The options of a DataLoader, and its position.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <tend/core/random/random.h>
#include <tend/nn/data/sampler.h>
#include <tend/nn/module/state_dict.h>

namespace tend::data {

/// The options of DataLoader, in the order of torch.utils.data.DataLoader's arguments.
struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  /// True: each loop reads the examples in a new random order.
  bool shuffle = false;
  /// Chooses the order of the examples, instead of `shuffle`.
  std::optional<Sampler> sampler = std::nullopt;
  /// Chooses the batches themselves, instead of batch_size, shuffle, sampler and drop_last.
  std::optional<IndexListSampler> batch_sampler = std::nullopt;
  /// The number of threads that make batches ahead of the loop. With 0, the loop's own thread makes
  /// them.
  std::int64_t num_workers = 0;
  /// True leaves out the last batch if it is smaller than batch_size.
  bool drop_last = false;
  /// The generator for the order; null is the default generator. It must live as long as the loader
  /// and its loops.
  Generator* generator = nullptr;
  /// The number of batches that are made ahead for each worker.
  std::int64_t prefetch_factor = 2;
};

namespace detail {

/// The position of a loop over a loader.
struct LoopPosition {
  /// The states of three generators at the loop's start: the options' generator, the sampler's
  /// generator and the default generator. The first two are nullopt if the user gave no such
  /// generator.
  std::array<std::optional<Generator>, 3> generators;
  std::int64_t examples = -1;  // the size of the dataset; -1 if it is iterable
  std::int64_t batches = 0;    // the number of batches that the loop has given
  bool is_running = false;     // false before the first batch of a loop and after the last one
  bool is_loaded = false;      // the position comes from a state, and the next loop begins here
};

/// The position at which the next loop begins. If `last` was loaded and is within a loop, the
/// function sets the user's generators to their states at the start of that loop.
LoopPosition begin_loop(const LoopPosition& last, const DataLoaderOptions& options,
                        std::int64_t examples);
nn::StateDict state_of(const LoopPosition& position, const DataLoaderOptions& options);
/// The position from which state_of() made the state. Sets the user's generators. Throws the errors
/// of DataLoader::load_state_dict.
LoopPosition position_of(const nn::StateDict& state, const DataLoaderOptions& options,
                         std::int64_t examples);

/// Throws an Error if options contradict each other. `examples` is -1 for an iterable dataset.
void check_options(const DataLoaderOptions& options, std::int64_t examples);
/// The batches of a map-style dataset of this size.
IndexListSampler batches_of(const DataLoaderOptions& options, std::int64_t size);

}  // namespace detail
}  // namespace tend::data
