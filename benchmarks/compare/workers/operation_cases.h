// The cases of `compare --operations`: a row of the operation table, at a size, with a dtype and a
// layout, forward, with its gradients or in place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/op_table/op_table.h"

namespace compare {

/// What is timed: the call, the call with its backward, or the in-place twin.
enum class Pass { forward, both, in_place };

/// As the driver names it: the sizes of a Work.
struct OperationCase {
  std::int64_t row = 0;   // in the operation table
  std::int64_t rows = 0;  // the matrix that the row's first input becomes; 0: the row's own sizes
  std::int64_t columns = 0;
  bool is_double = false;
  bool is_transposed = false;
  Pass pass = Pass::forward;
};

/// Inputs of a case, and what they are called with.
struct PreparedCase {
  tend::test::Case made;
  std::vector<tend::Tensor> wanted = {};      // inputs whose gradients are computed
  std::vector<tend::Tensor> cotangents = {};  // of the outputs that have a gradient
  std::vector<tend::Tensor> outputs = {};
  std::vector<tend::Tensor> gradients = {};       // may hold undefined ones
  std::optional<tend::TensorFunction> twin = {};  // of a case that is in place
  tend::Tensor original = {};                     // what the twin's tensor was
  int calls = 0;                                  // of the twin
};

/// Makes the inputs and calls once. Nothing where the case does not exist: the row's sizes are
/// fixed, its result would be too large, it has no gradient, or no twin that keeps shape and dtype.
std::optional<PreparedCase> prepare_case(const OperationCase& wanted);

/// One forward, one forward and backward, or one call of the in-place twin. The twin's tensor gets
/// its first elements again before every eighth call, so that numbers neither overflow nor vanish.
void run_case(PreparedCase& prepared, Pass pass);

}  // namespace compare
