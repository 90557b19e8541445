// A function of a score and of its place (batch, head, query, key), as the attention kernels
// evaluate it: a list of operations, each on results of earlier ones.
//
// A new operation needs its line in attention/expressions: expr.h and expr.cpp,
// composed_program.cpp (which says what it means) and derivative.cpp; and here in tile_loops.h
// (arithmetic) or tile_evaluation.cpp (what reads places and tables), and in tile_bounds.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <tend/core/array/array.h>

namespace tend::kernels {

enum class TileOp : std::uint8_t {
  // Inputs. `grad` is the gradient of the result, in a program that computes derivatives.
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

/// What a node gives: bits, int32 or the dtype of the scores.
enum class TileType : std::uint8_t { truth, index, real };

inline constexpr std::int64_t kLeastIndex = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t kGreatestIndex = std::numeric_limits<std::int32_t>::max();
constexpr bool fits_index(std::int64_t number) noexcept {
  return number >= kLeastIndex && number <= kGreatestIndex;
}

struct TileNode {
  TileOp op;
  TileType type;
  std::vector<int> inputs = {};  // earlier nodes; those of a look-up are its indices
  double number = 0;             // of a constant
  int table = -1;                // of a look-up

  bool operator==(const TileNode&) const = default;
};

/// `tables` are what look-ups read: floating ones of the scores' dtype, int64 ones whose elements
/// fit int32, or bool ones; at most 2^31 - 1 elements each. A look-up outside of its table gives 0
/// or false, as a division by the index 0 does; both are errors where the place is visible.
struct TileProgram {
  std::vector<TileNode> nodes;
  std::vector<Array> tables;
  std::vector<int> results;  // nodes
};

}  // namespace tend::kernels
