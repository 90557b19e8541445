// The rows of the benchmark: what is computed, in words that every worker understands.
#pragma once

#include <string>
#include <vector>

namespace compare {

struct Row {
  std::string name;
  /// The operation and its sizes, as a worker is told (see worker.h).
  std::string work;
  /// The machine's limit follows from one of these: floating point operations, bytes that a copy
  /// moves, or (`reads`) bytes that are read. All are 0 for a row without a limit.
  double flops = 0;
  double bytes = 0;
  /// How much results may differ from tend's, relative to the largest number among them.
  double tolerance = 0;
  /// Whether the peak memory is reported.
  bool reports_memory = false;
  /// Whether the row measures the cost of a call: checking tensors and allocating the result.
  /// Libraries of kernels, which do neither, are left out.
  bool is_call = false;
  double reads = 0;
};

std::vector<Row> all_rows();

}  // namespace compare
