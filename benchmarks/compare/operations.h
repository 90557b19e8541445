// `compare --operations`: times every row of the operation table in tend and in PyTorch.
#pragma once

#include <string>
#include <vector>

#include "measurement.h"
#include "peers.h"
#include "report.h"
#include "rows.h"

#include <nlohmann/json.hpp>

namespace compare {

/// A case: a row of the operation table with a size, a dtype, a layout and a pass.
struct OperationRow {
  Row row;  // the case as a row for the workers
  std::string python;
  std::string size;  // "4096x1024", or "own" if the sizes of the operation's row are fixed
  std::string dtype;
  std::string layout;
  std::string pass;  // "forward", "both" (forward and backward) or "in place"
};

struct OperationResult {
  OperationRow row;
  double tend = 0;     // seconds
  double pytorch = 0;  // seconds, with PyTorch's fastest settings
  double copy = 0;     // seconds for a copy of the bytes that the work reads and writes
  std::string settings;

  double ratio() const { return pytorch / tend; }
  /// True if tend reads and writes its bytes at more than half the speed of a copy.
  bool is_bound_by_memory() const { return copy > 0.5 * tend; }
};

/// The workers of tend, PyTorch and the machine, in this order.
std::vector<Peer> operation_peers(const std::string& folder, const std::string& tend, int threads);

/// The cases of all operations that tend's worker lists. If an operation does not support one of
/// its cases, the case is skipped later.
std::vector<OperationRow> operation_rows(const Peer& tend);

/// The file in which tend's worker writes the inputs for PyTorch's worker.
class InputsFile {
 public:
  /// Sets the environment variable COMPARE_INPUTS, which the workers inherit, to the file's path.
  InputsFile();

  /// The least number of bytes that the last case must read and write.
  double bytes() const;

 private:
  SharedFile file_;
};

/// A Markdown table with the lowest ratio first, followed by the geometric means.
std::string operations_report(std::vector<OperationResult> results);
nlohmann::json operations_json(const std::vector<OperationResult>& results, const Facts& facts);

}  // namespace compare
