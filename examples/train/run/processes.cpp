#include "examples/train/run/processes.h"

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include <tend/nn/training/interrupt.h>

#include "examples/program.h"

#ifdef TEND_HAS_DISTRIBUTED
#include <tend/nn/distributed/data_parallel.h>
#include <tend/nn/distributed/for_processes.h>
#endif

namespace train {

namespace {

tend::Tensor loss_of(const Model& model, const Batch& batch) {
  return answer_loss(model(token_tensor(batch.inputs, batch.size, batch.length)), batch);
}

/// The number of processes that were started together. Open MPI, MPICH and Slurm set it in the
/// environment.
std::uint64_t count_processes() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) return program::parse_number<std::uint64_t>(value).value_or(1);
  }
  return 1;
}

/// Throws if there are several processes but no shards. This runs before MPI is started, so that
/// each process can end by itself.
void check_processes(std::uint64_t shards) {
  const std::uint64_t processes = count_processes();
  if (processes > 1 && shards == 0)
    throw std::invalid_argument(std::to_string(processes) +
                                " processes need --shards, which divides each batch among them");
}

double backward_alone(const Model& model, const Batch& batch) {
  const tend::Tensor loss = loss_of(model, batch);
  loss.backward();
  return loss.item();
}

}  // namespace

#ifdef TEND_HAS_DISTRIBUTED

namespace {

/// The sequences of a shard.
Batch shard_of(const Batch& batch, std::size_t shard, std::size_t shards) {
  const std::size_t size = batch.size / shards;
  const auto cut = [&](const Tokens& tokens) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(shard * size * batch.length);
    return Tokens(begin, begin + static_cast<std::ptrdiff_t>(size * batch.length));
  };
  return {size, batch.length, cut(batch.inputs), cut(batch.targets)};
}

}  // namespace

struct Processes::State {
  tend::distributed::Context context;
  std::optional<tend::distributed::DataParallel> parallel;  // created by the first backward
};

Processes::Processes(std::uint64_t shards) : shards_(shards) {
  check_processes(shards);
  if (shards > 0) state_ = std::make_unique<State>();
}

bool Processes::is_first() const {
  return !state_ || state_->context.is_first();
}

int Processes::signal() const {
  if (!state_) return tend::nn::InterruptGuard::signal();
  return tend::distributed::signal_of_any(state_->context);
}

double Processes::backward(Model& model, const Batch& batch) {
  if (!state_) return backward_alone(model, batch);
  if (!state_->parallel) {
    const auto shards = static_cast<std::int64_t>(shards_);
    state_->parallel.emplace(state_->context, model,
                             tend::distributed::DataParallelOptions{.shards = shards});
  }
  return state_->parallel->backward([&](std::int64_t shard) {
    return loss_of(model, shard_of(batch, static_cast<std::size_t>(shard), shards_));
  });
}

#else

struct Processes::State {};

Processes::Processes(std::uint64_t shards) : shards_(shards) {
  check_processes(shards);
  if (shards > 0)
    throw std::invalid_argument("--shards needs MPI, which was not found when train was built");
}

bool Processes::is_first() const {
  return true;
}

int Processes::signal() const {
  return tend::nn::InterruptGuard::signal();
}

double Processes::backward(Model& model, const Batch& batch) {
  return backward_alone(model, batch);
}

#endif

Processes::~Processes() = default;

}  // namespace train
