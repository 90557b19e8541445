// Times training steps of two GPTs on the processes of mpirun, or the messages that they send:
//
//     mpirun -n 2 --bind-to core build/release/benchmarks/distributed --shards 2
//     mpirun -n 2 --bind-to core --mca btl tcp,self build/release/benchmarks/distributed --messages
//     build/release/benchmarks/distributed --threads 2
//
// benchmarks/distributed_torch.py does the same with PyTorch's DistributedDataParallel.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <tend/nn/distributed/communicator.h>
#include <tend/nn/distributed/data_parallel.h>
#include <tend/nn/distributed/pairwise_sum.h>
#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Tensor;

struct Options {
  std::int64_t shards = 0, steps = 30, bucket_bytes = 1 << 20;
  bool messages = false;
  std::string json;
};

/// The sizes of one of compare's two GPT steps.
struct Size {
  std::int64_t context, width, layers, heads, batch;
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

nlohmann::ordered_json measure(const tend::distributed::Context& context, const Size& size,
                               const Options& options) {
  constexpr std::int64_t kVocabulary = 65;
  constexpr int kWarmUp = 3;
  tend::manual_seed(1);
  tend::attention::GPT model({.vocab_size = kVocabulary,
                              .context_length = size.context,
                              .width = size.width,
                              .num_heads = size.heads,
                              .num_layers = size.layers});
  tend::optim::AdamW optimizer(model.parameters(), {.lr = 0.001});
  tend::distributed::DataParallel parallel(
      context, model, {.shards = options.shards, .bucket_bytes = options.bucket_bytes});
  const Tensor tokens = tend::randint(0, kVocabulary, {size.batch, size.context + 1});
  const auto loss = [&](std::int64_t shard) {
    const Tensor rows = tokens.chunk(parallel.shards())[static_cast<std::size_t>(shard)];
    const Tensor logits = model(rows.narrow(1, 0, size.context));
    return tend::cross_entropy(logits.flatten(0, 1), rows.narrow(1, 1, size.context).flatten());
  };
  std::vector<double> times;
  tend::distributed::ReductionCost before;
  for (std::int64_t step = 0; step < kWarmUp + options.steps; ++step) {
    if (step == kWarmUp) before = parallel.cost();
    context.barrier();
    const auto start = std::chrono::steady_clock::now();
    optimizer.zero_grad();
    parallel.backward(loss);
    optimizer.step();
    if (step >= kWarmUp) times.push_back(milliseconds_since(start));
  }
  std::ranges::sort(times);
  const tend::distributed::ReductionCost& cost = parallel.cost();
  const double seconds = cost.seconds - before.seconds;
  const double waited = cost.waited_seconds - before.waited_seconds;
  const auto steps = static_cast<double>(options.steps);
  return {{"context", size.context},
          {"bucket_bytes", options.bucket_bytes},
          {"width", size.width},
          {"layers", size.layers},
          {"processes", context.size()},
          {"shards", parallel.shards()},
          {"threads", tend::num_threads()},
          {"step_ms", times[times.size() / 2]},
          {"sent_bytes", static_cast<double>(cost.bytes_sent - before.bytes_sent) / steps},
          {"reduction_ms", 1000 * seconds / steps},
          {"waited_ms", 1000 * waited / steps},
          {"hidden", seconds > 0 ? 1 - waited / seconds : 0}};
}

/// Times the sum of a vector over all processes, as DataParallel computes it for each bucket.
nlohmann::ordered_json measure_sum(const tend::distributed::Context& context, std::int64_t bytes) {
  constexpr int kWarmUp = 20;
  const int rounds = bytes < 1 << 20 ? 2000 : 100;
  const tend::Array values = tend::zeros({bytes / 4}).array();
  std::vector<double> times;
  for (int round = 0; round < kWarmUp + rounds; ++round) {
    context.barrier();
    const auto start = std::chrono::steady_clock::now();
    tend::distributed::PairwiseSum(context.communicator(), 0, values).wait();
    if (round >= kWarmUp) times.push_back(milliseconds_since(start));
  }
  std::ranges::sort(times);
  return {{"bytes", bytes}, {"processes", context.size()}, {"sum_ms", times[times.size() / 2]}};
}

int run(const Options& options) {
  const tend::distributed::Context context;
  // The number of shards must be a power of two. It must also divide the batches, which have twelve
  // and four sequences.
  const std::int64_t shards = options.shards == 0 ? context.size() : options.shards;
  if (!options.messages && shards != 1 && shards != 2 && shards != 4)
    throw std::invalid_argument("--shards must be 1, 2 or 4, got " + std::to_string(shards));
  if (context.is_first()) program::check_can_write(options.json);
  nlohmann::ordered_json all;
  const auto add = [&](const nlohmann::ordered_json& found) {
    if (context.is_first()) std::cout << found.dump() << std::endl;
    all.push_back(found);
  };
  if (options.messages) {
    for (const std::int64_t bytes : {64, 1 << 20, 1 << 24}) add(measure_sum(context, bytes));
  } else {
    for (const Size& size : {Size{64, 128, 4, 4, 12}, Size{256, 384, 6, 6, 4}})
      add(measure(context, size, options));
  }
  if (context.is_first()) program::write_results(options.json, [&] { return all.dump(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("distributed",
                            "Times training steps of two GPTs on the processes of mpirun");
  Options options;
  line.add_whole("--shards", options.shards,
                 "Parts of the batch: 1, 2 or 4 (default: one for each process)", 1, 4);
  line.add_whole("--steps", options.steps, "Steps to time (30)", 1, 1'000'000);
  line.add_whole("--bucket-bytes", options.bucket_bytes, "Bytes of gradients in a bucket (1 MB)", 1,
                 1 << 30);
  line.add_flag("--messages", options.messages,
                "Time the sums of 64 bytes, 1 MB and 16 MB over the processes instead");
  line.add_threads();
  line.add_json(options.json);
  return line.run(argc, argv, [&] { return run(options); });
}
