// How a score or mask function becomes a program: what its operations note while it is called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include <tend/attention/expressions/expr.h>
#include <tend/core/kernels/attention/tile_program.h>

namespace tend::attention {

/// What errors call the values of score and mask functions.
inline constexpr const char* kExpression = "attention expression";

/// A function whose table has a row for each batch or head, in that dimension: of a table with more
/// it would silently read a part. Or it has a row for each query or key at least.
struct SizeNeeded {
  const char* function;   // as errors name it
  kernels::TileOp place;  // batch, head, query or key
  Tensor table;
  std::int64_t dimension;
  std::optional<Shape> made_for = {};  // of the table, where its other size is part of the function
};

/// A program whose tables are tensors, which may have gradients.
struct TracedFunction {
  std::vector<kernels::TileNode> nodes;
  std::vector<Tensor> tables;
  std::vector<int> results;
  std::vector<SizeNeeded> sizes = {};

  const kernels::TileNode& node(int i) const { return nodes[static_cast<std::size_t>(i)]; }
  /// To be called before each use: tables may have changed since the function was traced.
  /// ShapeError for another rank, DTypeError for other elements and for constants that scores of
  /// `dtype` cannot hold.
  void check(DType dtype) const;
  /// After check(): ShapeError, naming `operation`, where weights of that shape have other batches
  /// or heads than the tables, IndexError where they have more queries or keys, and ShapeError
  /// where a table has another shape than a function was made for.
  void check_sizes(const char* operation, const Shape& weights) const;
  /// The program for scores of that dtype, to which floating tables are converted.
  kernels::TileProgram program(DType dtype) const;
};

/// Records the operations on Exprs that this thread makes while the trace is alive. Equal
/// operations become one node.
class Trace {
 public:
  Trace() noexcept;
  /// Goes on where `begin` ended: it has the same nodes.
  explicit Trace(const TracedFunction& begin);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Error where no function is called.
  static Trace& current();

  /// The node, an earlier one if that does the same.
  Expr add(kernels::TileNode node);
  Expr add(kernels::TileOp op, kernels::TileType type, std::initializer_list<Expr> inputs = {});
  Expr constant(kernels::TileType type, double number);
  /// An element of the table; errors as Lookup documents.
  Expr look_up(const Tensor& table, std::vector<int> indices);
  /// The function is for inputs of that size. So is one that calls it for its own batch or head.
  void need(const SizeNeeded& size) { function_.sizes.push_back(size); }
  /// The number of the node; Error for a value of another function.
  int node_of(const Expr& value) const;
  const kernels::TileNode& node(int i) const { return function_.node(i); }
  kernels::TileType type_of(const Expr& value) const { return node(node_of(value)).type; }
  /// A number as a real one.
  Expr to_real(const Expr& number);
  Expr value(int node) const { return {node, number_}; }

  /// The function, with these results.
  TracedFunction finish(const std::vector<Expr>& results);
  /// The same without the nodes that the results do not need.
  TracedFunction finish_pruned(const std::vector<Expr>& results);
  /// Calls another function in this one; gives its result. `score` is nullptr for a mask.
  Expr call(const TracedFunction& function, const Expr* score, const Position& at);

 private:
  using Key = std::tuple<kernels::TileOp, kernels::TileType, std::vector<int>, std::uint64_t, int>;
  int add_table(const Tensor& table);

  TracedFunction function_;
  std::map<Key, int> known_;
  bool is_limited_ = true;  // what users write; derivatives have more nodes
  std::uint64_t number_;
  Trace* before_;
};

/// The position whose values are those of each place.
Position traced_position(Trace& trace);

}  // namespace tend::attention
