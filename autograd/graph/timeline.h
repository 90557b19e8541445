// When the operations of a thread ran, for the profiler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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
    std::int64_t lost = 0;             // operations for which there was no memory
  };

  /// Error where this thread has one already.
  Timeline();
  ~Timeline() { stop(); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Ends it, on any thread. On the one that made it a derivative may call this, which is not noted
  /// then; from another one no operation may run there meanwhile.
  void stop() noexcept;
  /// Empty until it was stopped.
  const Record& record() const noexcept;

  static bool is_on() noexcept { return may_be_on && is_still_on(); }
  /// Notes an operation that has just ended, unless it is a part of a derivative.
  static void note(const char* operation, std::int64_t bytes) noexcept;
  static void note(const char* operation, const Array& result,
                   std::span<const TensorRef> inputs) noexcept;
  /// Stores in `node` the module that ran its operation, for its derivative.
  static void note_module(Node& node);
  /// Leaves out what has happened since the last operation: it was none.
  static void skip() noexcept;

  struct State;

 private:
  static bool is_still_on() noexcept;

  // False where none began on this thread, or was found to have ended.
  inline static constinit thread_local bool may_be_on = false;
  std::shared_ptr<State> state_;
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
  TimedDerivative(const Node& node, const Tensor& gradient) noexcept
      : node_(Timeline::is_on() ? &node : nullptr) {
    if (node_ != nullptr) begin(gradient);
  }
  ~TimedDerivative() {
    if (node_ != nullptr) end();
  }
  TimedDerivative(const TimedDerivative&) = delete;
  TimedDerivative& operator=(const TimedDerivative&) = delete;

  /// Counts the bytes of what the derivative gave.
  void gave(std::span<const Tensor> gradients) noexcept {
    if (node_ != nullptr) count(gradients);
  }

 private:
  void begin(const Tensor& gradient) noexcept;
  void count(std::span<const Tensor> gradients) noexcept;
  void end() noexcept;

  const Node* node_;
  std::int64_t bytes_ = 0;
};

}  // namespace autograd
}  // namespace tend
