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
/// Only the thread that made a Communicator may use it. If a call waits for a process that has
/// destroyed its Communicator, the call throws an Error after some seconds.
class Communicator {
 public:
  /// Starts MPI, unless the program has started it.
  ///
  /// Throws: Error - MPI was ended before, or reports an error
  Communicator(int* argc, char*** argv);
  /// Waits until all processes destroy their Communicators. It does not wait after a failed call,
  /// or while an exception unwinds the stack.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  class Operation;

  /// Two messages: one is being sent to another process, and one is being received from it.
  class Exchange {
   public:
    /// The memory of `out` and `in` must be valid until is_done() returns true.
    Exchange(const Communicator& communicator, int partner, int tag, std::span<const std::byte> out,
             std::span<std::byte> in);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    /// Lets MPI make progress. Returns true if both messages are complete.
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
  /// Throws an Error if an earlier call failed. After a failure, the processes may be in different
  /// calls, and would wait for each other.
  void check_usable(const char* call) const;
  /// Starts a collective MPI call by start(request), and waits for its end.
  template <class F>
  void collect(const char* call, F start) const;
  /// Waits until is_done() returns true. Throws an Error if `partner` has ended instead of
  /// answering. `partner` is MPI_ANY_SOURCE if all processes must answer.
  template <class F>
  void wait_until(const char* call, int partner, F is_done) const;
  void wait_for_goodbyes() const;

  std::unique_ptr<State> state_;
  int rank_ = 0, size_ = 1;
};

/// A call that all processes make together, such as Context::gather. It sends the call's collective
/// messages. The object lives as long as the call.
///
/// Before each collective message, the processes compare their current calls. If the calls differ,
/// because a process has skipped a call or made an extra one, all processes throw an Error.
///
/// If an exception leaves the operation after expect_local_errors(), the Communicator can no longer
/// be used: other processes may not have thrown. Further calls then throw an Error. The process
/// ends without MPI_Finalize, so that mpirun ends the others.
class Communicator::Operation {
 public:
  /// Throws: Error - an earlier operation failed after expect_local_errors()
  Operation(const Communicator& communicator, const char* name);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const char* name() const noexcept { return name_; }
  /// The operation within which this one began; nullptr if this is the outermost one.
  const Operation* outer() const noexcept { return outer_; }

  /// Call it before code that may throw on this process only.
  void expect_local_errors() noexcept { has_local_errors_ = true; }

  /// Waits for all processes.
  void barrier();
  /// Copies the bytes of process 0 to all others.
  void broadcast(std::span<std::byte> bytes);
  /// Collects `own` of all processes in `all`, in the order of the ranks. The size of `own` must be
  /// the same on all processes.
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all);
  /// Checks that all processes have the same lines. Undoes expect_local_errors(), even if the lines
  /// differ.
  ///
  /// Throws: Error - the lines differ. All processes throw; the message names the first difference
  void check_agreement(const std::vector<std::string>& lines);

 private:
  void check_calls(const char* what, std::size_t bytes);
  void gather_now(std::span<const std::byte> own, std::span<std::byte> all) const;
  std::vector<std::string> lines_of_first(const std::vector<std::string>& lines);

  const Communicator* communicator_;
  const char* name_;
  const Operation* outer_ = nullptr;
  bool has_local_errors_ = false;  // exceptions may occur on this process only
  int exceptions_;
};

/// The most bytes of a message.
constexpr std::size_t kLargestMessage = std::size_t{1} << 30;  // MPI counts with an int

}  // namespace tend::distributed
