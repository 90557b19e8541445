// The cases of `compare --operations`. A case is a row of the operation table with a size, a dtype,
// a layout and a pass.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/op_table/op_table.h"

namespace compare {

/// The work that is timed: the call, the call with its backward, or the in-place form.
enum class Pass { forward, both, in_place };

/// A case, as the driver sends it in the sizes of a Work.
struct OperationCase {
  std::int64_t row = 0;   // in the operation table
  std::int64_t rows = 0;  // the size of the first input, as a matrix; 0: the row's own sizes
  std::int64_t columns = 0;
  bool is_double = false;
  bool is_transposed = false;
  Pass pass = Pass::forward;
};

/// A case after prepare_case(): its inputs, and the results of the last run.
struct PreparedCase {
  tend::test::Case made;
  std::vector<tend::Tensor> wanted = {};      // inputs whose gradients are computed
  std::vector<tend::Tensor> cotangents = {};  // of the outputs that require grad
  std::vector<tend::Tensor> outputs = {};
  std::vector<tend::Tensor> gradients = {};                // undefined for an unused input
  std::optional<tend::TensorFunction> in_place_form = {};  // the in-place form, for Pass::in_place
  tend::Tensor original = {};  // a copy of the tensor that `in_place_form` changes
  int calls = 0;               // calls of `in_place_form`
};

/// Makes the inputs and does the work once. Returns nullopt if the case does not exist:
///
/// - the row's sizes are fixed, or its result would be too large
/// - the row has no gradient, or no in-place form that keeps shape and dtype
std::optional<PreparedCase> prepare_case(const OperationCase& wanted);

/// Does the work once: the forward, forward and backward, or the in-place form.
///
/// The tensor that the in-place form changes is reset before every eighth call, so that its numbers
/// neither overflow nor vanish.
void run_case(PreparedCase& prepared, Pass pass);

}  // namespace compare
