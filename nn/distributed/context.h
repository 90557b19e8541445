/// \file
/// Processes that train together by MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tend/nn/module/module.h>

namespace tend::distributed {

class Communicator;

/// Starts MPI and connects the processes of a program.
///
/// A program makes a Context at its beginning:
///
///     int main(int argc, char** argv) {
///       const distributed::Context context(argc, argv);
///       ...
///
/// `mpirun -n 4 PROGRAM` starts the program as four processes; without mpirun there is one process.
/// All processes must make the same calls of this namespace in the same order, each on the thread
/// that made its Context. An error of MPI becomes an Error that names the rank and the call.
///
/// mpirun stops all processes, and reports the rank, if one of them
/// - ends without destroying its Context,
/// - destroys its Context because of an exception, or
/// - destroys its Context after a call that failed halfway.
///
/// If a process destroys its Context while others still wait for it, their calls throw an Error
/// after five seconds. The message names the process.
class Context {
 public:
  /// Starts MPI, unless the program has done so itself.
  ///
  /// Throws: Error - MPI was ended before
  Context(int& argc, char**& argv);
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int rank() const noexcept;  ///< From 0 to size() - 1.
  int size() const noexcept;
  /// True on the one process that prints and writes files.
  bool is_first() const noexcept { return rank() == 0; }

  /// Waits for all processes.
  void barrier() const;
  /// Returns the numbers of all processes, in the order of their ranks.
  std::vector<double> gather(double number) const;
  /// Returns the tensors of all processes, stacked in the order of their ranks: (size(), ...).
  ///
  /// The result has no history. `.sum(0)` and `.mean(0)` reduce it.
  ///
  /// Throws:
  ///   Error - the shapes or dtypes differ
  ///   Error - a tensor is undefined or has more than 2^30 bytes
  Tensor gather(const Tensor& tensor) const;
  /// Returns the sum or the mean of all processes' numbers, added in the order of their ranks.
  ///
  /// The last bits depend on the number of processes. For the same bits with any number of
  /// processes, gather() one number for each shard of a DataParallel, and add these numbers.
  double sum(double number) const;
  double mean(double number) const;
  /// Copies the elements of process 0's tensors to the tensors of all others.
  ///
  /// Throws: Error - the number of tensors, a dtype or a shape differs; nothing has changed then
  void broadcast(const std::vector<Tensor>& tensors) const;

  const Communicator& communicator() const noexcept { return *communicator_; }

 private:
  std::vector<double> gather(double number, const char* call) const;
  double sum(double number, const char* call) const;

  std::unique_ptr<Communicator> communicator_;
};

}  // namespace tend::distributed
