// When the operations of a thread ran, for the profiler.
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
  std::size_t module = 0;  // that ran it, of Record::modules
  std::int64_t begin = 0;  // in nanoseconds since the timeline began
  std::int64_t end = 0;
  std::int64_t bytes = 0;  // of its inputs and results
  std::int64_t flops = 0;  // of matrix products and attention
};

/// While it lives, notes the operations of the thread that made it. An operation's time begins
/// where the one before it ended. Without a timeline an operation pays one test.
class Timeline {
 public:
  struct Record {
    std::vector<TimedOperation> operations;
    std::vector<std::string> modules;  // paths, as CallScope's
    std::int64_t end = 0;              // when the timeline stopped
  };

  /// Error where this thread has one already.
  Timeline();
  ~Timeline() { stop(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Ends it, on the thread that made it.
  void stop() noexcept;
  /// Empty until it was stopped.
  const Record& record() const noexcept { return stopped_; }

  static bool is_on() noexcept { return current_ != nullptr; }
  /// Notes an operation that has just ended, unless it is a part of a derivative.
  static void note(const char* operation, std::int64_t bytes);
  static void note(const char* operation, const Array& result, std::span<const TensorRef> inputs);
  /// Stores in `node` the module that ran its operation, for its derivative.
  static void note_module(Node& node);
  /// Leaves out what has happened since the last operation: it was none.
  static void skip() noexcept;

 private:
  friend class TimedDerivative;
  using Clock = std::chrono::steady_clock;

  std::int64_t now() const;
  // Notes what has happened since the last operation's end.
  void add(const char* name, bool is_derivative, std::int64_t bytes, const std::string& module);
  // The next operation begins here.
  void go_on() noexcept;

  inline static constinit thread_local Timeline* current_ = nullptr;

  Clock::time_point start_ = Clock::now();
  std::int64_t last_end_ = 0;
  std::uint64_t last_flops_ = 0;
  int derivatives_ = 0;                                  // that run now, one within the other
  std::unordered_map<std::string, std::size_t> places_;  // of modules
  Record running_, stopped_;
};

/// A part of a program that profiles list beside the operations, such as the reading of a file:
/// what happens while it lives and is no operation. `name` must live as long as the profiler.
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

/// Notes the derivative that runs while it lives, and what adds up its gradients, as one operation.
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
