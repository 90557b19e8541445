// The threads of a DataLoader.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include <tend/autograd/tensor/grad_mode.h>

namespace tend::data::detail {

/// Threads that run jobs 0, 1, 2, ..., each once, as soon as they are published.
class Workers {
 public:
  /// `run` must not throw. Starts as many threads as the system has for it.
  Workers(std::int64_t count, std::function<void(std::uint64_t)> run);
  /// Waits for the jobs that run; others are dropped.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Hands over one more job.
  void publish() noexcept;
  /// False when the system had no threads: then the jobs are the caller's.
  bool are_here() const noexcept;

 private:
  struct Threads;  // so that programs need not compile <thread>

  void serve();

  std::function<void(std::uint64_t)> run_;
  std::atomic<std::uint32_t> calls_{0};  // changes with each call; idle threads sleep on it
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> published_{0}, taken_{0};
  std::unique_ptr<Threads> threads_;
};

/// The mode in which batches are made, the same on every thread: no grad.
class LoadScope {
  NoGradGuard no_grad_;
};

/// Throws `error`, which is the current exception, as the same kind of tend's errors (Error where
/// it is none) with the batch and the index before its message, and itself nested in it.
[[noreturn]] void fail_at(std::int64_t batch, std::optional<std::int64_t> index,
                          const std::exception& error);

/// Calls f(), and names batch and index in what it throws. Out of memory stays what it is.
template <class F>
decltype(auto) named(std::int64_t batch, std::optional<std::int64_t> index, F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    fail_at(batch, index, error);
  }
}

}  // namespace tend::data::detail
