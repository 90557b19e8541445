// The threads of a DataLoader.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include <tend/autograd/tensor/grad_mode.h>

namespace tend::data::detail {

/// Threads that run jobs 0, 1, 2, ..., each once, as soon as they are published. Without threads,
/// the caller runs each job when it waits for it.
class Workers {
 public:
  /// `run` must not throw. Starts `count` threads, or as many as the system allows.
  Workers(std::int64_t count, std::function<void(std::uint64_t job)> run);
  /// Waits for the jobs that are running; others are dropped.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool has_threads() const noexcept;
  /// Hands over one more job.
  void publish();
  /// Returns when the job, which was published, has run. Jobs are waited for in order.
  void wait_for(std::uint64_t job);

 private:
  struct Threads;  // so that programs need not compile <thread>

  std::function<void(std::uint64_t)> run_;
  std::unique_ptr<Threads> threads_;
};

/// The modes in which batches are made, the same on every thread: no grad, no inference mode.
class LoadScope {
  InferenceModeGuard inference_mode_{false};
  NoGradGuard no_grad_;
};

/// Throws `error`, which is the current exception, as the same kind of tend's errors (Error if it
/// is another std::exception) with the batch and the index before its message, and itself nested.
[[noreturn]] void fail_at(std::int64_t batch, std::optional<std::int64_t> index,
                          const std::exception& error);

/// Calls f(), and names batch and index in what it throws. An OutOfMemoryError stays what it is.
template <class F>
decltype(auto) named(std::int64_t batch, std::optional<std::int64_t> index, F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    fail_at(batch, index, error);
  }
}

}  // namespace tend::data::detail
