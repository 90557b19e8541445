// The calls of MPI that tend needs, with its errors as tend::Error. Internal.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tend::distributed {

/// The processes of this program, among which tend's messages do not meet those of others. Only the
/// thread that made it may use it.
///
/// A call that waits for another process is an Error on this one some seconds after the other has
/// destroyed its Communicator, since what it waits for cannot come any more.
class Communicator {
 public:
  /// Starts MPI, unless the program has.
  Communicator(int* argc, char*** argv);
  /// Waits for the others to do the same, unless this one is abandoned or an exception passes.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  class Operation;

  /// A message to another process and one from it, on their way.
  class Exchange {
   public:
    /// The memory must stay until is_done().
    Exchange(const Communicator& communicator, int partner, int tag, std::span<const std::byte> out,
             std::span<std::byte> in);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    /// Lets MPI go on with it.
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
  /// Error after a call that failed: the processes differ, and would wait for each other.
  void check_usable(const char* call) const;
  /// Starts what all processes do together, start(request), and waits for its end.
  template <class F>
  void collect(const char* call, F start) const;
  /// Waits until is_done(). Error where `partner` ended instead of answering; MPI_ANY_SOURCE for
  /// what needs all.
  template <class F>
  void wait_until(const char* call, int partner, F is_done) const;
  void say_goodbye() const;

  std::unique_ptr<State> state_;
  int rank_ = 0, size_ = 1;
};

/// A call of the user that all processes make, while it lasts, and the messages for all in it.
///
/// With each message the processes tell each other which call they are in. Where that differs,
/// because one of them has left out a call or made one more, it is an Error on all. An exception
/// that passes while they may differ abandons the Communicator: further calls are errors, and the
/// process ends without MPI_Finalize, so that mpirun ends the others.
class Communicator::Operation {
 public:
  /// Error after a call that failed on its way.
  Operation(const Communicator& communicator, const char* name);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const char* name() const noexcept { return name_; }
  /// The call that this one is made within; nullptr where there is none.
  const Operation* outer() const noexcept { return outer_; }

  /// From here on the processes may differ.
  void unsettle() noexcept { differs_ = true; }

  /// Waits for all.
  void barrier();
  /// Process 0's bytes to all.
  void broadcast(std::span<std::byte> bytes);
  /// Each process's bytes, of one size, in the order of their ranks.
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all);
  /// Error on all processes unless all have the same lines; it names the first that differs. In
  /// both cases all processes are alike afterwards.
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
