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

/// Throws an error with the batch and the index before the message of `error`, the current
/// exception, which is nested. The class is the same as that of `error`, or Error if `error` is not
/// an error of tend.
[[noreturn]] void fail_at(std::int64_t batch, std::optional<std::int64_t> index,
                          const std::exception& error);

}  // namespace tend::data::detail
