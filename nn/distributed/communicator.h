// The MPI calls that tend needs. MPI's errors become a tend::Error. Internal.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tend::distributed {

/// The connection to the other processes of this program. tend's messages never mix with other MPI
/// messages of the program.
///
/// Only the thread that made a Communicator may use it. A call may wait for a process that has
/// destroyed its Communicator. It throws an Error after some seconds, since no answer can come.
class Communicator {
 public:
  /// Starts MPI, unless the program has started it.
  ///
  /// Throws: Error - MPI was ended before, or reports an error
  Communicator(int* argc, char*** argv);
  /// Waits until all processes destroy their Communicators. It does not wait after a call that
  /// failed, or if an exception is the reason.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  class Operation;

  /// A message that is being sent to another process, and one that is being received from it.
  class Exchange {
   public:
    /// The memory of `out` and `in` must be valid until is_done().
    Exchange(const Communicator& communicator, int partner, int tag, std::span<const std::byte> out,
             std::span<std::byte> in);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    /// Lets MPI make progress. True if both messages are complete.
    bool is_done();
    void wait();

   private:
    struct Requests;
    std::unique_ptr<Requests> requests_;
    const Communicator* communicator_;
    int partner_;
  };

 private:
  struct State;

  void check(int code, const char* call) const;
  /// Throws an Error after a call that failed: the processes may be in different calls, and would
  /// wait for each other.
  void check_usable(const char* call) const;
  /// Starts a collective operation by start(request), and waits for its end.
  template <class F>
  void collect(const char* call, F start) const;
  /// Waits until is_done() returns true. Throws an Error if `partner` has ended instead of
  /// answering. `partner` is MPI_ANY_SOURCE if all processes must answer.
  template <class F>
  void wait_until(const char* call, int partner, F is_done) const;
  void say_goodbye() const;

  std::unique_ptr<State> state_;
  int rank_ = 0, size_ = 1;
};

/// A call that all processes make together, such as Context::gather, with its collective messages.
/// The object lives as long as the call.
///
/// With each message the processes exchange which call they are in. If the calls differ, because a
/// process has skipped a call or made an extra one, all processes throw an Error.
///
/// After unsettle(), an exception abandons the Communicator, since the exception may not occur on
/// the other processes. Further calls then throw an Error. The process ends without MPI_Finalize,
/// so that mpirun ends the others.
class Communicator::Operation {
 public:
  /// Throws: Error - an earlier call failed after unsettle()
  Operation(const Communicator& communicator, const char* name);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const char* name() const noexcept { return name_; }
  /// The call within which this call is made; nullptr if there is none.
  const Operation* outer() const noexcept { return outer_; }

  /// From here on, an exception of this process need not occur on the others.
  void unsettle() noexcept { differs_ = true; }

  /// Waits for all processes.
  void barrier();
  /// Copies the bytes of process 0 to all others.
  void broadcast(std::span<std::byte> bytes);
  /// Collects `own` of all processes in `all`, in the order of their ranks. All have the same size.
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all);
  /// Checks that all processes have the same lines. It undoes unsettle(), also if it fails.
  ///
  /// Throws: Error - on all processes: the lines differ; the message names the first difference
  void check_agreement(const std::vector<std::string>& lines);

 private:
  void check_calls(const char* what, std::size_t bytes);
  void gather_now(std::span<const std::byte> own, std::span<std::byte> all) const;
  std::vector<std::string> lines_of_first(const std::vector<std::string>& lines);

  const Communicator* communicator_;
  const char* name_;
  const Operation* outer_ = nullptr;
  bool differs_ = false;
  int exceptions_;
};

/// The most bytes of a message.
constexpr std::size_t kLargestMessage = std::size_t{1} << 30;  // MPI counts with an int

}  // namespace tend::distributed
