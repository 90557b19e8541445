// Checks the gradients of every operation in the operation table (tests/op_table/op_table.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// The result of all checks of one operation, first or second order.
struct OperationCheck {
  std::string operation;
  int order = 1;
  std::size_t rows = 0;
  std::int64_t checks = 0;  // samples times layouts; 0 for an operation without a derivative
  double max_abs_error = 0;
  double max_rel_error = 0;
  bool passed = true;
  std::set<std::string> nodes;      // all nodes of its forward graphs
  std::set<std::string> own_nodes;  // the nodes that belong to this operation
};

/// The value as a JSON number. NaN and infinities become strings, because JSON has no such numbers.
/// A broken gradient may have them.
nlohmann::ordered_json json_number(double value);

/// Checks the first and second derivatives of every operation.
std::vector<OperationCheck> check_operations();

void print(const std::vector<OperationCheck>& checks);
nlohmann::ordered_json to_json(const std::vector<OperationCheck>& checks);

/// The names of the nodes in all operations' forward graphs.
std::set<std::string> operation_node_names();

/// The nodes to break for `--break name`: the node with that name, or the own nodes of the
/// operation with that name. Throws Error if there are no such nodes in `known`.
std::set<std::string> nodes_to_break(const std::string& name, const std::set<std::string>& known);
