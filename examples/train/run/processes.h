#pragma once

#include <cstdint>
#include <memory>

#include "examples/train/run/model.h"

namespace train {

/// The processes of `mpirun`, which divide the shards (equal parts) of each batch among them.
/// Without shards there is only this process, and MPI is not used.
class Processes {
 public:
  /// Starts MPI if there are shards.
  ///
  /// Throws:
  ///   std::invalid_argument - there are shards, but this build has no MPI
  ///   std::invalid_argument - there are several processes, but no shards
  explicit Processes(std::uint64_t shards = 0);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// True for the one process that writes files and messages.
  bool is_first() const;
  /// The signal that any of the processes received, or 0. All processes return the same.
  int signal() const;
  /// Adds the gradients of the batch's mean loss to the model's gradients. Returns the loss. Each
  /// process must pass the whole batch.
  double backward(Model& model, const Batch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;  // null without --shards
  std::uint64_t shards_;
};

}  // namespace train
