/// \file
/// Processes that train together, by MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::distributed {

class Communicator;

/// MPI while it lives, and this process's place in it. A program makes one at its beginning:
///
///     int main(int argc, char** argv) {
///       const distributed::Context context(argc, argv);
///       ...
///
/// and is started by `mpirun -n 4 PROGRAM`; without mpirun it is the only process. All processes
/// make the same calls of this namespace in the same order, each on the thread that made its
/// Context. What MPI reports is an Error with rank and call.
///
/// A process that ends without destroying its Context, or destroys it because of an exception or
/// after a call that failed on the way, ends the others: mpirun stops them, and says which rank it
/// was. Where one destroys it while others still wait for it, their calls are Errors that name it,
/// after five seconds.
class Context {
 public:
  /// Starts MPI, unless the program has done so itself. Error where MPI was ended before.
  Context(int& argc, char**& argv);
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int rank() const noexcept;  ///< From 0 to size() - 1.
  int size() const noexcept;
  /// Whether this process is the one that prints and writes files.
  bool is_first() const noexcept { return rank() == 0; }

  /// Waits for all processes.
  void barrier() const;
  /// The numbers of all processes, in the order of their ranks.
  std::vector<double> gather(double number) const;
  /// The tensors of all processes, stacked in the order of their ranks: (size(), ...), without
  /// history; `.sum(0)` and `.mean(0)` reduce them. Error unless they have the same shape and
  /// dtype, and at most 2^30 bytes.
  Tensor gather(const Tensor& tensor) const;
  /// The sum and mean of a number of each process, added in the order of their ranks. So their
  /// last bits depend on the number of processes; for the same ones gather() a number of each
  /// shard.
  double sum(double number) const;
  double mean(double number) const;
  /// Copies the elements of process 0 to the tensors of all others. Error unless these have the
  /// same number, dtypes and shapes on all; nothing has changed then.
  void broadcast(const std::vector<Tensor>& tensors) const;

  const Communicator& communicator() const noexcept { return *communicator_; }

 private:
  std::vector<double> gather(double number, const char* call) const;
  double sum(double number, const char* call) const;

  std::unique_ptr<Communicator> communicator_;
};

}  // namespace tend::distributed
