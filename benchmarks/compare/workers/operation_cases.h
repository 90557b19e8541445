// The cases of `compare --operations`: a row of the operation table, at a size, with a dtype and a
// layout, with or without its gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/op_table/op_table.h"

namespace compare {

/// As the driver names it: the sizes of a Work.
struct OperationCase {
  std::int64_t row = 0;   // in the operation table
  std::int64_t rows = 0;  // the matrix that the row's first input becomes; 0: the row's own sizes
  std::int64_t columns = 0;
  bool is_double = false;
  bool is_transposed = false;
  bool has_backward = false;
};

/// Inputs of a case, and what they are called with.
struct PreparedCase {
  tend::test::Case made;
  std::vector<tend::Tensor> wanted = {};      // inputs whose gradients are computed
  std::vector<tend::Tensor> cotangents = {};  // of the outputs that have a gradient
  std::vector<tend::Tensor> outputs = {};
  std::vector<tend::Tensor> gradients = {};  // may hold undefined ones
};

/// The row's first sample, grown so that its first input has `rows` x `columns` elements in its
/// last two dimensions and other sizes follow; nothing where the row cannot grow.
std::optional<tend::test::Sample> grown_sample(const tend::test::Op& op, std::int64_t rows,
                                               std::int64_t columns);

/// Makes the inputs and calls once. Nothing where the case does not exist: the row's sizes are
/// fixed, its result would be too large, or it has no gradient.
std::optional<PreparedCase> prepare_case(const OperationCase& wanted);

/// One forward, or one forward and backward.
void run_case(PreparedCase& prepared, bool has_backward);

/// A cotangent that other languages compute alike: (7919 i mod 201 - 100) / 100 for element i.
tend::Tensor plain_cotangent(const tend::Tensor& output);

}  // namespace compare
