// `compare --operations`: every row of the operation table, tend beside PyTorch.
#pragma once

#include <string>
#include <vector>

#include "measurement.h"
#include "peers.h"
#include "report.h"
#include "rows.h"

#include <nlohmann/json.hpp>

namespace compare {

/// A row of the operation table at a size, with a dtype and a layout, in one pass.
struct OperationRow {
  Row row;  // what the workers are told
  std::string python;
  std::string size;  // "4096x1024", or "own" where the row's sizes are fixed
  std::string dtype;
  std::string layout;
  std::string pass;  // "forward", "both" (forward and backward) or "in place" (the twin)
};

struct OperationResult {
  OperationRow row;
  double tend = 0;     // seconds
  double pytorch = 0;  // seconds, with the best of its settings
  double copy = 0;     // seconds that a copy of the bytes takes that the work reads and writes
  std::string settings;

  double ratio() const { return pytorch / tend; }
  /// Whether tend moves its bytes at half the speed of a copy, or faster.
  bool is_bound_by_memory() const { return copy > 0.5 * tend; }
};

/// tend's and PyTorch's workers, and the machine.
std::vector<Peer> operation_peers(const std::string& folder, const std::string& tend, int threads);

/// All cases, as the worker of tend lists them. Those that prove not to exist are skipped later.
std::vector<OperationRow> operation_rows(const Peer& tend);

/// Where tend's worker leaves the inputs for PyTorch's.
class InputsFile {
 public:
  /// Names the file in the variable COMPARE_INPUTS, which the workers inherit.
  InputsFile();

  /// The number of bytes that the work of the last case reads and writes at least.
  double bytes() const;

 private:
  SharedFile file_;
};

/// A Markdown table, the lowest ratio first, and what follows from it.
std::string operations_report(std::vector<OperationResult> results);
nlohmann::json operations_json(const std::vector<OperationResult>& results, const Facts& facts);

}  // namespace compare
