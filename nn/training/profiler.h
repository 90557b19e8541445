/// \file
/// Profiler: shows which operations and modules take the time of a program.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <tend/autograd/graph/timeline.h>

namespace tend::nn {

/// The cost of several profiled operations together.
struct ProfileRow {
  std::string name;  ///< The operation's name, such as "linear", or the module's.
  bool is_derivative = false;
  std::int64_t calls = 0;
  double seconds = 0;
  double bytes = 0;  ///< The bytes of inputs, results and the tensors that derivatives read.
  /// Multiplications and additions of matrix products and attention; 0 for all other operations.
  double flops = 0;
};

/// Profiles the operations of its thread while it lives, or until stop():
///
///     nn::Profiler profiler;
///     for (int i = 0; i < 10; ++i) train_step();
///     std::cout << profiler;
///     nn::write_file("trace.json", profiler.trace());
///
/// The time of an operation begins when the operation before it ends. So the time between two
/// operations belongs to the later one. Put an autograd::ProfiledPart around other code that takes
/// time.
///
/// The derivative of an operation is one row, even if it consists of several operations. It belongs
/// to the module that ran the operation. For attention with `is_causal`, FLOPs count only pairs of
/// a query and a key that the mask does not hide. Profiling takes about a microsecond for each
/// operation; most of that is not part of the operations' times.
///
/// Throws: Error - there is already a profiler on this thread
class Profiler {
 public:
  Profiler() = default;

  void stop() { timeline_.stop(); }

  // The results are empty before stop().

  /// A row for each operation and each derivative. The rows with the most time come first.
  std::vector<ProfileRow> by_operation() const;
  /// Two rows for each module: forward and backward. The rows with the most time come first.
  ///
  /// The name of a row is the path of the module. The row of a module includes the
  /// operations of its submodules. Operations outside of all modules have the name "".
  std::vector<ProfileRow> by_module() const;
  /// The time from the profiler's beginning to stop(), in seconds.
  double seconds() const;
  /// A timeline in Chrome's trace format, for https://ui.perfetto.dev or chrome://tracing.
  ///
  /// It shows the operations, with their GFLOP/s, within the modules that ran them. A module's
  /// event lasts from its first operation to its last. Successive calls of one module are one
  /// event.
  std::string trace() const;

 private:
  autograd::Timeline timeline_;
};

/// Prints by_operation() and by_module() as two tables, with shares of the time and GFLOP/s.
std::ostream& operator<<(std::ostream& out, const Profiler& profiler);

}  // namespace tend::nn
