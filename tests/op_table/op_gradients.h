// Gradients of whole operations: how far they are from central differences, and which backward
// nodes make them. For the tests, and for examples/gradcheck.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/op_table/op_table.h"

namespace tend::test {

/// The layouts in which a row is tried.
std::vector<Layout> layouts_of(const Op& op);

/// "torch.exp(a), sample 0, contiguous"
std::string describe(const Op& op, std::size_t sample, Layout layout);

/// What gradcheck (order 1) or gradgradcheck (order 2) found, over samples and layouts.
struct GradientErrors {
  std::int64_t checks = 0;
  double max_abs_error = 0;
  double max_rel_error = 0;
  bool passed = true;
  std::string message;  // of the first check that failed

  void add(const GradientErrors& more);
};

/// The errors of one row: of the first derivatives of every sample on every layout, or of the
/// second derivatives of the first sample on every layout and of the others. A check that throws
/// (gradients with noise differ from one evaluation to the next) counts as failed.
GradientErrors check_gradients(const Op& row, int order);

/// The backward nodes that an operation's forward graphs are made of, in all its rows.
struct OperationNodes {
  std::set<std::string> all;
  /// The nodes of the operation itself. A node belongs to the operations that have the smallest
  /// graph with it (counted in node names): ExpBackward0 belongs to exp, whose graph has no other
  /// node. An operation without nodes of its own is composed of others.
  std::set<std::string> own;
};

/// For every operation of the table that is differentiable somewhere, by name.
const std::map<std::string, OperationNodes>& operation_nodes();

}  // namespace tend::test
