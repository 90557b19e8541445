// The gradients of every operation in the operation table (tests/op_table/op_table.h).
#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// All checks of one operation, of one order.
struct OperationCheck {
  std::string operation;
  int order = 1;
  std::size_t rows = 0;
  std::int64_t checks = 0;  // of samples in all layouts; 0 for an operation without derivative
  double max_abs_error = 0;
  double max_rel_error = 0;
  bool passed = true;
  std::set<std::string> nodes;  // that its forward graphs are made of
  std::set<std::string> own_nodes;
};

/// A number; JSON has no NaN or infinity, but a broken gradient may have both: they are strings.
nlohmann::ordered_json json_number(double value);

/// First and second order, for every operation.
std::vector<OperationCheck> check_operations();

void print(const std::vector<OperationCheck>& checks);
nlohmann::ordered_json to_json(const std::vector<OperationCheck>& checks);

/// The nodes of all operations' forward graphs.
std::set<std::string> operation_node_names();

/// The nodes to spoil for `--break name`: the one of that name, or the own ones of the operation of
/// that name. Error when none of them is in `known`.
std::set<std::string> nodes_to_break(const std::string& name, const std::set<std::string>& known);
