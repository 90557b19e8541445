// The times at which the operations of a thread ran, for the profiler.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

class Node;
class TensorRef;

namespace autograd {

/// An operation that ran, or its derivative.
struct TimedOperation {
  const char* name = nullptr;
  bool is_derivative = false;
  std::size_t module = 0;  // the module that ran it: an index in Record::modules
  std::int64_t begin = 0;  // in nanoseconds since the start of the timeline
  std::int64_t end = 0;
  std::int64_t bytes = 0;  // the size of its inputs and results
  std::int64_t flops = 0;  // floating-point operations of matrix products and attention
};

/// Records the operations of the thread that made it, during its lifetime.
///
/// The time of an operation begins at the end of the previous one. Without a timeline, an operation
/// has one additional branch.
class Timeline {
 public:
  struct Record {
    std::vector<TimedOperation> operations;
    std::vector<std::string> modules;  // paths, as in CallScope
    std::int64_t end = 0;              // when the timeline stopped
  };

  /// Starts a timeline.
  ///
  /// Throws: Error - this thread has a timeline already
  Timeline();
  ~Timeline() { stop(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Stops the timeline. Call it on the thread that made it.
  void stop() noexcept;
  /// Returns the record, which is empty until the timeline is stopped.
  const Record& record() const noexcept { return stopped_; }

  static bool is_on() noexcept { return current_ != nullptr; }
  /// Records an operation that has just ended, unless it is a part of a derivative.
  static void note(const char* operation, std::int64_t bytes);
  static void note(const char* operation, const Array& result, std::span<const TensorRef> inputs);
  /// Stores in `node` the module that ran its operation, for its derivative.
  static void note_module(Node& node);
  /// Does not count the time since the last operation: the next operation begins now.
  static void skip() noexcept;

 private:
  friend class TimedDerivative;
  using Clock = std::chrono::steady_clock;

  std::int64_t now() const;
  // Records an operation that ran from the end of the last one until now.
  void add(const char* name, bool is_derivative, std::int64_t bytes, const std::string& module);
  // Begins the time of the next operation now.
  void go_on() noexcept;

  inline static constinit thread_local Timeline* current_ = nullptr;

  Clock::time_point start_ = Clock::now();
  std::int64_t last_end_ = 0;
  std::uint64_t last_flops_ = 0;
  int derivatives_ = 0;                                   // nested derivatives that run now
  std::unordered_map<std::string, std::size_t> indices_;  // indices of modules
  Record running_, stopped_;
};

/// A part of a program that profiles list with the operations, such as the reading of a file.
///
/// It covers the time of its lifetime in which no operation runs. `name` must live as long as the
/// profiler.
class ProfiledPart {
 public:
  [[nodiscard]] explicit ProfiledPart(const char* name) noexcept : name_(name) { Timeline::skip(); }
  ~ProfiledPart() { Timeline::note(name_, bytes_); }
  ProfiledPart(const ProfiledPart&) = delete;
  ProfiledPart& operator=(const ProfiledPart&) = delete;

  /// Counts bytes that this part reads and writes.
  void add_bytes(std::int64_t bytes) noexcept { bytes_ += bytes; }

 private:
  const char* name_;
  std::int64_t bytes_ = 0;
};

/// Records the derivative that runs during its lifetime, and the addition of its gradients, as one
/// operation.
class TimedDerivative {
 public:
  TimedDerivative(const Node& node, const Tensor& gradient) : timeline_(Timeline::current_) {
    if (timeline_ != nullptr) begin(node, gradient);
  }
  ~TimedDerivative() {
    if (timeline_ != nullptr) end();
  }
  TimedDerivative(const TimedDerivative&) = delete;
  TimedDerivative& operator=(const TimedDerivative&) = delete;

  /// Counts the bytes of the derivative's results.
  void gave(std::span<const Tensor> gradients) {
    if (timeline_ != nullptr) count(gradients);
  }

 private:
  void begin(const Node& node, const Tensor& gradient);
  void count(std::span<const Tensor> gradients);
  void end();

  Timeline* timeline_;
  const Node* node_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace autograd
}  // namespace tend
