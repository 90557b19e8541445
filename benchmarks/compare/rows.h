// The rows of the benchmark: what is computed, in words that every worker understands.
#pragma once

#include <string>
#include <vector>

namespace compare {

struct Row {
  std::string name;
  /// The operation and its sizes, as a worker is told (see worker.h).
  std::string work;
  /// What the machine's limit follows from: floating point operations, or bytes that a copy moves,
  /// or (`reads`) bytes that are read. 0 for a row that no such limit tells anything about.
  double flops = 0;
  double bytes = 0;
  /// How far results may lie from tend's, relative to the largest number among them.
  double tolerance = 0;
  /// Whether the peak memory is reported.
  bool reports_memory = false;
  /// Whether the row is about what a call on tensors costs: to check them, to allocate the result.
  /// Libraries of kernels, which do neither, take no part.
  bool is_call = false;
  double reads = 0;
};

std::vector<Row> all_rows();

}  // namespace compare
