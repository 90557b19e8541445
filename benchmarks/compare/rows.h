// The rows of the benchmark. A row describes its work in words that every worker understands.
#pragma once

#include <string>
#include <vector>

namespace compare {

struct Row {
  std::string name;
  /// The operation and its sizes, in the form that is sent to workers (see worker.h).
  std::string work;
  /// The machine's limit is computed from one of these: floating-point operations (`flops`), bytes
  /// that a copy reads and writes (`bytes`), or bytes that are read (`reads`). All are 0 for a row
  /// without a limit.
  double flops = 0;
  double bytes = 0;
  /// The largest allowed difference from tend's results, relative to their largest number.
  double tolerance = 0;
  /// True if the peak memory is reported.
  bool reports_memory = false;
  /// True if the row measures the fixed cost of a call, which is to check tensors and allocate the
  /// result. Libraries that have only kernels do neither, so they are left out.
  bool is_call = false;
  double reads = 0;
};

std::vector<Row> all_rows();

}  // namespace compare
