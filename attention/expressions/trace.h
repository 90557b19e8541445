// How a score or mask function becomes a program. Its operations are recorded while it is called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <tend/attention/expressions/expr.h>
#include <tend/core/kernels/attention/tile_program.h>

namespace tend::attention {

/// The name of the operation in errors about values of score and mask functions.
inline constexpr const char* kExpression = "attention expression";

/// The size that a function's table must have in one dimension: exactly as many entries as
/// there are batches or heads, or at least as many as there are queries or keys. Without this
/// check, a function would silently read a part of a larger table.
struct SizeNeeded {
  const char* function;   // its name in errors
  kernels::TileOp place;  // batch, head, query or key
  Tensor table;
  std::int64_t dimension;
  // The table's shape when the function was made. Empty if only `dimension` is checked.
  std::optional<Shape> made_for = {};
};

/// A recorded function: a program whose tables are tensors, which may have gradients.
struct TracedFunction {
  std::vector<kernels::TileNode> nodes;
  std::vector<Tensor> tables;
  std::vector<int> results;
  std::vector<SizeNeeded> sizes = {};

  const kernels::TileNode& node(int i) const { return nodes[static_cast<std::size_t>(i)]; }
  /// Must be called before each use, since tables may have changed after the function was recorded.
  ///
  /// Throws:
  ///   ShapeError - a table now has another number of dimensions
  ///   DTypeError - a table's dtype has changed, or an element does not fit int32
  ///   DTypeError - scores of `dtype` cannot represent a constant
  ///   Error      - a table now has more than 2^31 - 1 elements
  void check(DType dtype) const;
  /// Must be called after check(). `operation` is the name in messages.
  ///
  /// Throws:
  ///   ShapeError - weights of this shape have more or fewer batches or heads than a table
  ///   IndexError - the weights have more queries or keys than a table
  ///   ShapeError - a table has another shape than when its function was made
  void check_sizes(const char* operation, const Shape& weights) const;
  /// The program for scores of this dtype. Floating tables are converted to this dtype.
  kernels::TileProgram program(DType dtype) const;
};

/// Records the operations on Exprs that this thread executes while the trace exists. Equal
/// operations become one node.
class Trace {
 public:
  Trace() noexcept;
  /// Continues a recorded function: the trace begins with the same nodes.
  explicit Trace(const TracedFunction& begin);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The newest trace of this thread.
  ///
  /// Throws: Error - no function is being called
  static Trace& current();

  /// Adds a node, or returns an equal one that is already there.
  Expr add(kernels::TileNode node);
  Expr add(kernels::TileOp op, kernels::TileType type, std::initializer_list<Expr> inputs = {});
  Expr constant(kernels::TileType type, double number);
  /// An element of the table. Throws the errors of lookup().
  Expr look_up(const Tensor& table, std::vector<int> indices);
  /// Records a size that a table must have. If another function calls this one and
  /// passes its batch or head on unchanged, the other function gets the same requirement.
  void need(const SizeNeeded& size) { function_.sizes.push_back(size); }
  /// The number of the value's node.
  ///
  /// Throws: Error - the value belongs to another function
  int node_of(const Expr& value) const;
  const kernels::TileNode& node(int i) const { return function_.node(i); }
  kernels::TileType type_of(const Expr& value) const { return node(node_of(value)).type; }
  /// The value as a real number.
  Expr to_real(const Expr& number);
  Expr value(int node) const { return {node, number_}; }

  /// Returns the recorded function, with these results.
  TracedFunction finish(const std::vector<Expr>& results);
  /// finish(), without the nodes that the results do not need.
  TracedFunction finish_pruned(const std::vector<Expr>& results);
  /// Calls another function inside this one, and returns its result. `score` is nullptr for a mask.
  Expr call(const TracedFunction& function, const Expr* score, const Position& at);

 private:
  using Key = std::tuple<kernels::TileOp, kernels::TileType, std::vector<int>, std::uint64_t, int>;
  int add_table(const Tensor& table);

  TracedFunction function_;
  std::map<Key, int> known_;
  bool is_limited_ = true;  // limits the number of nodes; false for derivatives, which need more
  std::uint64_t number_;
  Trace* before_;
};

/// The nodes for batch, head, query and key.
Position traced_position(Trace& trace);

}  // namespace tend::attention
