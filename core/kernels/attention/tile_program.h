// A function of a score and its position (batch, head, query, key), as the attention kernels
// evaluate it: a list of operations, each on results of earlier ones.
//
// A new operation needs a line in several files. In attention/expressions these are expr.h,
// expr.cpp, composed_program.cpp (which defines its meaning) and derivative.cpp. Here they are
// tile_bounds.cpp, and either tile_loops.h (arithmetic) or tile_evaluation.cpp (operations that
// read positions or tables).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <tend/core/array/array.h>

namespace tend::kernels {

enum class TileOp : std::uint8_t {
  // Inputs. `grad` is the gradient of the result, in programs that compute derivatives.
  constant,
  batch,
  head,
  query,
  key,
  score,
  grad,
  lookup,
  // Arithmetic of indices, which wraps around, and of real numbers.
  add,
  sub,
  mul,
  div,        // of real numbers
  floor_div,  // of indices
  remainder,  // of indices, with the sign of the divisor
  min,
  max,
  neg,
  abs,
  exp,
  log,
  tanh,
  to_real,
  // Truth values.
  eq,
  ne,
  lt,
  le,
  logical_and,
  logical_or,
  logical_not,
  where
};

/// The type of a node's values: bits, int32 or the dtype of the scores.
enum class TileType : std::uint8_t { truth, index, real };

inline constexpr std::int64_t kLeastIndex = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t kGreatestIndex = std::numeric_limits<std::int32_t>::max();
constexpr bool fits_index(std::int64_t number) noexcept {
  return number >= kLeastIndex && number <= kGreatestIndex;
}

struct TileNode {
  TileOp op;
  TileType type;
  std::vector<int> inputs = {};  // earlier nodes; for a look-up, its indices
  double number = 0;             // the value of a constant
  int table = -1;                // the number of a look-up's table

  bool operator==(const TileNode&) const = default;
};

/// A program. `tables` are read by look-ups, and have at most 2^31 - 1 elements each.
///
/// A table is floating with the scores' dtype, int64 with elements that fit int32, or bool. A
/// look-up outside of its table gives 0 or false, and so does a division by the index 0. Both are
/// errors if the position is visible.
struct TileProgram {
  std::vector<TileNode> nodes;
  std::vector<Array> tables;
  std::vector<int> results;  // nodes
};

}  // namespace tend::kernels
