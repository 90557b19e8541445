#pragma once

#include <cstdint>
#include <memory>

#include "examples/train/run/model.h"

namespace train {

/// The processes of `mpirun`, among which the shards of each batch are divided. Without shards
/// there is this process alone, and no MPI.
class Processes {
 public:
  /// Throws std::invalid_argument where this build has no MPI for shards (0: none), and for several
  /// processes without shards.
  explicit Processes(std::uint64_t shards = 0);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Whether this process is the one that writes.
  bool is_first() const;
  /// The signal that came to any process, which all note; 0 where none did.
  int signal() const;
  /// Adds the gradients of the batch's mean loss to those of the model, and returns it. All
  /// processes are given the whole batch.
  double backward(Model& model, const Batch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;  // null without --shards
  std::uint64_t shards_;
};

}  // namespace train
