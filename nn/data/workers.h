// The threads of a DataLoader.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

namespace tend::data::detail {

/// Threads that run jobs in the order in which they are added.
class Workers {
 public:
  explicit Workers(std::int64_t count);
  /// Waits for the jobs that are running and drops the others.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// `job` must not throw.
  void add(std::function<void()> job);

 private:
  struct Threads;  // defined in the source, so that programs need not compile <thread>

  std::unique_ptr<Threads> threads_;
};

/// Throws an error whose message names the batch and the index, followed by the message of `error`.
/// `error` is the current exception, and is nested in the new one. The new error has the class of
/// `error`, or is an Error if `error` is not an error of tend.
[[noreturn]] void fail_at(std::int64_t batch, std::optional<std::int64_t> index,
                          const std::exception& error);

}  // namespace tend::data::detail
