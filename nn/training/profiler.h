/// \file
/// Where the time of a program goes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <tend/autograd/graph/timeline.h>

namespace tend::nn {

/// What profiled operations took together.
struct ProfileRow {
  std::string name;  ///< Of the operation, such as "linear", or of the module.
  bool is_derivative = false;
  std::int64_t calls = 0;
  double seconds = 0;
  double bytes = 0;  ///< Of inputs, results and what derivatives read besides.
  /// Multiplications and additions of matrix products and attention; 0 for all other operations.
  double flops = 0;
};

/// Profiles what its thread computes while it lives, or until stop():
///
///     nn::Profiler profiler;
///     for (int i = 0; i < 10; ++i) train_step();
///     std::cout << profiler;
///     nn::write_file("trace.json", profiler.trace());
///
/// An operation counts from where the one before it ended, so time that a program spends between
/// two operations belongs to the later one; put an autograd::ProfiledPart around what
/// is no operation. The
/// derivative of an operation is one row, whatever it is made of, and belongs to the module that
/// ran the operation. Of attention with `is_causal`, FLOPs count visible pairs only. Profiling
/// takes about a microsecond an operation, most of it outside of the operations' times.
///
/// Error where this thread is profiled already.
class Profiler {
 public:
  Profiler() = default;

  void stop() { timeline_.stop(); }

  // What follows is empty until stop() was called.

  /// A row for each operation and each derivative, the longest first.
  std::vector<ProfileRow> by_operation() const;
  /// A row for the forward and one for the backward of each module by its path, what it runs within
  /// other modules included, the longest first. Operations outside of all modules have the name "".
  std::vector<ProfileRow> by_module() const;
  /// From the beginning to stop().
  double seconds() const;
  /// The operations, each with its GFLOP/s, within the modules that ran them, in Chrome's trace
  /// format, for https://ui.perfetto.dev or chrome://tracing. A module reaches from its first
  /// operation to its last; calls of one module that follow each other are one event.
  std::string trace() const;

 private:
  autograd::Timeline timeline_;
};

/// by_operation() and by_module() as two tables, with shares of the time and GFLOP/s.
std::ostream& operator<<(std::ostream& out, const Profiler& profiler);

}  // namespace tend::nn
