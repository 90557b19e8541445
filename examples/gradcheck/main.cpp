// Compares first and second derivatives with central differences: for all attention functions and
// modules, or for all operations.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "cases.h"
#include "examples/program.h"
#include "operations.h"
#include "tests/op_table/op_noise.h"

namespace {

struct Row {
  std::string name;
  int order;
  tend::GradcheckEntry entry;
};

struct Options {
  std::string json_path;
  std::string broken;
  bool all = false;
  std::uint64_t seed = 123;
};

tend::GradcheckReport check(const Case& each, int order) {
  tend::GradcheckOptions options;
  options.names = each.names;
  const auto f = [&](const std::vector<tend::Tensor>&) { return each.context(); };
  return order == 1 ? tend::gradcheck(f, each.inputs, options)
                    : tend::gradgradcheck(f, each.inputs, options);
}

// The names of all nodes in the forward graphs and in the graphs of their gradients.
std::set<std::string> all_node_names(const std::vector<Case>& cases) {
  std::set<std::string> names;
  for (const Case& each : cases) {
    const tend::Tensor context = each.context();
    names.merge(tend::autograd::node_names({context}));
    names.merge(tend::autograd::node_names(
        tend::autograd::grad({context}, each.inputs, {tend::ones(context.shape(), tend::float64)},
                             {.create_graph = true, .allow_unused = true})));
  }
  return names;
}

// The entries of a check. A check that throws counts as failed. With --break, that is expected: the
// noise makes gradients differ between evaluations, so no message is printed.
std::vector<tend::GradcheckEntry> entries(const Case& each, int order, bool has_noise) {
  try {
    return check(each, order).inputs;
  } catch (const tend::AutogradError& error) {
    if (!has_noise) std::cerr << each.name << ", order " << order << ": " << error.what() << '\n';
    tend::GradcheckEntry entry;
    entry.name = "all";
    entry.passed = false;
    entry.max_abs_error = entry.max_rel_error = std::numeric_limits<double>::infinity();
    return {entry};
  }
}

std::vector<Row> check_all(const std::vector<Case>& cases, bool has_noise) {
  std::vector<Row> rows;
  for (const Case& each : cases) {
    for (const int order : {1, 2}) {
      for (tend::GradcheckEntry& entry : entries(each, order, has_noise))
        rows.push_back({each.name, order, std::move(entry)});
    }
  }
  return rows;
}

void print(const std::vector<Row>& rows) {
  std::printf("%-46s %5s  %-28s %9s %9s\n", "context vectors of", "order", "with respect to",
              "abs error", "rel error");
  for (const Row& row : rows) {
    std::printf("%-46s %5d  %-28s %9.1e %9.1e %s\n", row.name.c_str(), row.order,
                row.entry.name.c_str(), row.entry.max_abs_error, row.entry.max_rel_error,
                row.entry.passed ? "ok" : "FAILED");
  }
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"name", row.name},
                    {"order", row.order},
                    {"wrt", row.entry.name},
                    {"max_abs_error", json_number(row.entry.max_abs_error)},
                    {"max_rel_error", json_number(row.entry.max_rel_error)},
                    {"passed", row.entry.passed}});
  }
  return list;
}

bool has_passed(const Row& row) {
  return row.entry.passed;
}
bool has_passed(const OperationCheck& check) {
  return check.passed;
}

// Prints and writes the checks. Returns the exit code, which is 1 if a check failed.
template <class Checks>
int report(const Checks& checks, const std::string& json_path) {
  print(checks);
  program::write_results(json_path, [&] { return to_json(checks).dump(1); });
  const auto failed = std::count_if(checks.begin(), checks.end(),
                                    [](const auto& each) { return !has_passed(each); });
  std::printf("%zu gradients checked, %td failed\n", checks.size(), failed);
  return failed == 0 ? 0 : 1;
}

// Runs checks() while noise is added to the gradients of the nodes with these names.
int with_noise(std::set<std::string> nodes, const std::function<int()>& checks) {
  if (nodes.empty()) return checks();
  const tend::test::GradientNoise noise(nodes.extract(nodes.begin()).value());
  return with_noise(std::move(nodes), checks);
}

int run(const Options& options) {
  program::check_can_write(options.json_path);
  tend::manual_seed(options.seed);
  const std::vector<Case> cases = options.all ? std::vector<Case>() : attention_cases();
  std::set<std::string> broken;
  if (!options.broken.empty()) {
    try {
      broken = nodes_to_break(options.broken,
                              options.all ? operation_node_names() : all_node_names(cases));
    } catch (const tend::Error& error) {
      throw std::invalid_argument(error.what());  // wrong usage
    }
  }
  return with_noise(std::move(broken), [&] {
    return options.all ? report(check_operations(), options.json_path)
                       : report(check_all(cases, !options.broken.empty()), options.json_path);
  });
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "gradcheck",
      "Compares the gradients of all attention modules, or of all operations, with central "
      "differences: first order, and second order with random cotangents. Exits with 1 if a "
      "gradient is wrong.");
  Options options;
  line.add_flag(
      "--all", options.all,
      "check every operation instead, and show its largest errors over all its test cases, "
      "samples and layouts");
  line.add_file("--json", options.json_path,
                "write the table to this file, as a list; with --all its objects have the keys "
                "operation, order (1 or 2), rows, checks, max_abs_error, max_rel_error, passed, "
                "nodes (all nodes of the operation's forward graphs) and own_nodes (the nodes "
                "that belong to the operation; empty for a composed operation)");
  line.add_text("--break", options.broken,
                "break the gradients of a backward node, to see the check fail; name the node "
                "(ExpBackward0) or its operation (exp)");
  line.add_whole("--seed", options.seed, "seed of inputs and weights").default_text("123");
  line.add_threads();
  return line.run(argc, argv, [&] { return run(options); });
}
