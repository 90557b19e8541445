// Gradients of whole operations: how much they differ from central differences, and which backward
// nodes compute them. For the tests and for examples/gradcheck.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/op_table/op_table.h"

namespace tend::test {

/// The layouts in which a row is checked.
std::vector<Layout> layouts_of(const Op& op);

/// Text such as "torch.exp(a), sample 0, contiguous".
std::string describe(const Op& op, std::size_t sample, Layout layout);

/// The errors that gradcheck (order 1) or gradgradcheck (order 2) found, over samples and layouts.
struct GradientErrors {
  std::int64_t checks = 0;
  double max_abs_error = 0;
  double max_rel_error = 0;
  bool passed = true;
  std::string message;  // the message of the first check that failed

  void add(const GradientErrors& more);
};

/// Checks the gradients of one row. Order 1 checks the first derivatives of every sample in every
/// layout. Order 2 checks the second derivatives of the first sample in every layout, and of the
/// other samples in the contiguous layout. A check that throws counts as failed. It throws if the
/// gradients have noise, because two evaluations differ then.
GradientErrors check_gradients(const Op& row, int order);

/// The backward nodes in the graphs that an operation records, over all its rows.
struct OperationNodes {
  std::set<std::string> all;
  /// The nodes of the operation itself. A node belongs to the operations that have the smallest
  /// graph with it (counted in node names): ExpBackward0 belongs to exp, whose graph has no other
  /// node. An operation that has no such node is composed of others.
  std::set<std::string> own;
};

/// The nodes of every operation that is differentiable in at least one row, by the operation's
/// name.
const std::map<std::string, OperationNodes>& operation_nodes();

}  // namespace tend::test
