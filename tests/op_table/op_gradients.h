// Gradients of whole operations: how much they differ from central differences, and which backward
// nodes compute them. The tests and examples/gradcheck use these functions.
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
  /// The nodes of the operation itself. A node belongs to each operation whose graph is the
  /// smallest one that contains the node. For example, ExpBackward0 belongs to exp, whose graph has
  /// no other node. The size of a graph is the number of its different node names. An operation
  /// without own nodes is composed of other operations.
  std::set<std::string> own;
};

/// The nodes of every operation that is differentiable in at least one row, by the operation's
/// name.
const std::map<std::string, OperationNodes>& operation_nodes();

}  // namespace tend::test
