#include "tests/op_table/op_gradients.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <tend/autograd/tools/graph.h>

namespace tend::test {

std::vector<Layout> layouts_of(const Op& op) {
  if (!op.any_layout) return {Layout::contiguous};
  return {std::begin(kLayouts), std::end(kLayouts)};
}

namespace {

GradientErrors errors_of(const GradcheckReport& report) {
  GradientErrors errors;
  errors.checks = 1;
  errors.passed = report.passed;
  for (const GradcheckEntry& entry : report.inputs) {
    errors.max_abs_error = std::max(errors.max_abs_error, entry.max_abs_error);
    errors.max_rel_error = std::max(errors.max_rel_error, entry.max_rel_error);
  }
  if (!report.passed) errors.message = report.message;
  return errors;
}

GradientErrors check_case(const Case& made, double step, int order) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const GradcheckOptions options{.eps = step};
  try {
    return errors_of(order == 1 ? gradcheck(made.call(), made.inputs, options)
                                : gradgradcheck(made.call(), made.inputs, options));
  } catch (const AutogradError& error) {
    return {1, kInfinity, kInfinity, false, error.what()};
  }
}

// The node names in each graph that the rows of an operation record.
using Graphs = std::vector<std::set<std::string>>;

std::map<std::string, Graphs> graphs_by_operation() {
  std::map<std::string, Graphs> graphs;
  for (const Op& op : op_table()) {
    if (!op.differences) continue;
    for (const Sample& sample : op.samples) {
      for (const Layout layout : layouts_of(op)) {
        if (layout == Layout::expanded) continue;  // its graph also has a node for expand
        const Case made = make_case(op, sample, layout);
        if (!made.has_gradient()) continue;
        graphs[op.name].push_back(autograd::node_names(op.call(made.inputs)));
      }
    }
  }
  return graphs;
}

// The size of the smallest graph that contains each node.
std::map<std::string, std::size_t> smallest_graphs(
    const std::map<std::string, Graphs>& operations) {
  std::map<std::string, std::size_t> sizes;
  for (const auto& [operation, graphs] : operations) {
    for (const auto& graph : graphs) {
      for (const std::string& name : graph) {
        const auto place = sizes.emplace(name, graph.size()).first;
        place->second = std::min(place->second, graph.size());
      }
    }
  }
  return sizes;
}

}  // namespace

std::string describe(const Op& op, std::size_t sample, Layout layout) {
  return as_text(op.torch, ", sample ", sample, ", ", layout_name(layout));
}

void GradientErrors::add(const GradientErrors& more) {
  checks += more.checks;
  max_abs_error = std::max(max_abs_error, more.max_abs_error);
  max_rel_error = std::max(max_rel_error, more.max_rel_error);
  if (passed && !more.passed) message = more.message;
  passed = passed && more.passed;
}

GradientErrors check_gradients(const Op& row, int order) {
  GradientErrors all;
  if (!row.differences) return all;
  for (std::size_t k = 0; k < row.samples.size(); ++k) {
    for (const Layout layout : layouts_of(row)) {
      // Second derivatives are slow, so only the first sample is checked in all layouts.
      if (order == 2 && k > 0 && layout != Layout::contiguous) break;
      const Case made = make_case(row, row.samples[k], layout);
      if (!made.has_gradient()) continue;
      GradientErrors found = check_case(made, row.step, order);
      if (!found.passed) found.message = describe(row, k, layout) + ": " + found.message;
      all.add(found);
    }
  }
  return all;
}

const std::map<std::string, OperationNodes>& operation_nodes() {
  static const std::map<std::string, OperationNodes> table = [] {
    const std::map<std::string, Graphs> operations = graphs_by_operation();
    const std::map<std::string, std::size_t> smallest = smallest_graphs(operations);
    std::map<std::string, OperationNodes> nodes;
    for (const auto& [operation, graphs] : operations) {
      for (const auto& graph : graphs) {
        for (const std::string& name : graph) {
          nodes[operation].all.insert(name);
          if (graph.size() == smallest.at(name)) nodes[operation].own.insert(name);
        }
      }
    }
    return nodes;
  }();
  return table;
}

}  // namespace tend::test
