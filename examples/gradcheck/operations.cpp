#include "operations.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>

#include <tend/core/base/error.h>

#include "tests/op_table/op_gradients.h"

using namespace tend;

namespace {

std::string joined(const std::set<std::string>& names, const char* separator) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : separator) + name;
  return text;
}

OperationCheck check(const std::string& operation, const std::vector<const test::Op*>& rows,
                     int order) {
  test::GradientErrors errors;
  for (const test::Op* row : rows) errors.add(test::check_gradients(*row, order));
  OperationCheck out{
      operation,     order, rows.size(), errors.checks, errors.max_abs_error, errors.max_rel_error,
      errors.passed, {},    {}};
  const auto nodes = test::operation_nodes().find(operation);
  if (nodes != test::operation_nodes().end()) {
    out.nodes = nodes->second.all;
    out.own_nodes = nodes->second.own;
  }
  return out;
}

}  // namespace

nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::vector<OperationCheck> check_operations() {
  std::map<std::string, std::vector<const test::Op*>> rows;
  for (const test::Op& op : test::op_table()) rows[op.name].push_back(&op);
  std::vector<OperationCheck> checks;
  for (const auto& [operation, its_rows] : rows) {
    for (const int order : {1, 2}) checks.push_back(check(operation, its_rows, order));
  }
  return checks;
}

void print(const std::vector<OperationCheck>& checks) {
  std::printf("%-34s %5s %5s %6s %9s %9s %-6s  %s\n", "operation", "order", "rows", "checks",
              "abs error", "rel error", "", "own nodes (or the nodes of a composed operation)");
  for (const OperationCheck& each : checks) {
    const bool composed = each.own_nodes.empty() && !each.nodes.empty();
    const std::string nodes =
        composed ? "(" + joined(each.nodes, ", ") + ")" : joined(each.own_nodes, ", ");
    std::printf("%-34s %5d %5zu %6lld %9.1e %9.1e %-6s  %s\n", each.operation.c_str(), each.order,
                each.rows, static_cast<long long>(each.checks), each.max_abs_error,
                each.max_rel_error, each.passed ? "ok" : "FAILED", nodes.c_str());
  }
}

nlohmann::ordered_json to_json(const std::vector<OperationCheck>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const OperationCheck& each : checks) {
    list.push_back({{"operation", each.operation},
                    {"order", each.order},
                    {"rows", each.rows},
                    {"checks", each.checks},
                    {"max_abs_error", json_number(each.max_abs_error)},
                    {"max_rel_error", json_number(each.max_rel_error)},
                    {"passed", each.passed},
                    {"nodes", each.nodes},
                    {"own_nodes", each.own_nodes}});
  }
  return list;
}

std::set<std::string> operation_node_names() {
  std::set<std::string> names;
  for (const auto& [operation, nodes] : test::operation_nodes()) {
    names.insert(nodes.all.begin(), nodes.all.end());
  }
  return names;
}

std::set<std::string> nodes_to_break(const std::string& name, const std::set<std::string>& known) {
  if (known.count(name) == 1) return {name};
  const auto operation = test::operation_nodes().find(name);
  if (operation == test::operation_nodes().end()) {
    throw Error("--break: no operation and no node is named " + name + "; the nodes are:\n  " +
                joined(known, "\n  "));
  }
  const auto& [all, own] = operation->second;
  if (own.empty()) {
    throw Error("--break: " + name + " has no own node; it consists of:\n  " + joined(all, "\n  "));
  }
  std::set<std::string> found;
  std::set_intersection(own.begin(), own.end(), known.begin(), known.end(),
                        std::inserter(found, found.end()));
  if (found.empty()) throw Error("--break: no node of " + name + " is in these checks");
  return found;
}
