#include <tend/attention/expressions/trace.h>

#include <atomic>
#include <bit>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/kernels/attention/tile_plan.h>

namespace tend::attention {
namespace {

using kernels::TileNode;
using kernels::TileOp;
using kernels::TileType;

/// A function with more operations is a mistake, for example a loop over positions.
constexpr std::size_t kMostNodes = 10'000;

thread_local Trace* current_trace = nullptr;
std::atomic<std::uint64_t> last_number{0};

TileType type_of_elements(const Tensor& table) {
  if (is_floating(table.dtype())) return TileType::real;
  return table.dtype() == int64 ? TileType::index : TileType::truth;
}

void check_table(const Tensor& table) {
  if (!kernels::fits_index(table.numel())) {
    fail(kExpression, "a table of shape ", table.shape(), " has more than 2^31 - 1 elements");
  }
  if (table.dtype() != int64 || table.numel() == 0) return;
  const std::int64_t low = amin(table.detach()).item<std::int64_t>();
  const std::int64_t high = amax(table.detach()).item<std::int64_t>();
  if (!kernels::fits_index(low) || !kernels::fits_index(high)) {
    fail<DTypeError>(kExpression, "a table of shape ", table.shape(), " has elements from ", low,
                     " to ", high, ", which do not fit int32");
  }
}

}  // namespace

void TracedFunction::check(DType dtype) const {
  for (const TileNode& each : nodes) {
    if (each.op == TileOp::constant && each.type == TileType::real) {
      check_holds(kExpression, dtype, each.number);
    }
    if (each.op != TileOp::lookup) continue;
    const Tensor& table = tables[static_cast<std::size_t>(each.table)];
    if (table.dim() != std::ssize(each.inputs)) {
      fail<ShapeError>(kExpression, "a table now has the shape ", table.shape(),
                       ", but the function reads it with ", each.inputs.size(), " indices");
    }
    if (type_of_elements(table) != each.type) {
      fail<DTypeError>(kExpression, "a table of shape ", table.shape(), " is now ", table.dtype(),
                       ", but had another dtype when the function was made");
    }
  }
  for (const Tensor& table : tables) check_table(table);
}

void TracedFunction::check_sizes(const char* operation, const Shape& weights) const {
  const std::int64_t rank = weights.rank(), heads = rank > 2 ? weights[rank - 3] : 1;
  std::int64_t batches = 1;
  for (std::int64_t d = 0; d < rank - 3; ++d) batches *= weights[d];
  for (const SizeNeeded& each : sizes) {
    const Shape& table = each.table.shape();
    Shape expected = each.made_for.value_or(table);
    expected[each.dimension] = table[each.dimension];
    if (table != expected) {
      fail<ShapeError>(operation, each.function, " was made for a table of shape ", *each.made_for,
                       ", but the table now has the shape ", table);
    }
    const bool of_queries = each.place == TileOp::query;
    if (of_queries || each.place == TileOp::key) {
      const std::int64_t places = weights[rank - (of_queries ? 2 : 1)];
      if (places <= table[each.dimension]) continue;
      fail<IndexError>(operation, each.function, " is for at most ", table[each.dimension],
                       " tokens, but the weights ", weights, " have ", places,
                       of_queries ? " queries" : " keys");
    }
    const bool of_heads = each.place == TileOp::head;
    const std::int64_t present = of_heads ? heads : batches;
    if (table[each.dimension] == present) continue;
    fail<ShapeError>(operation, each.function, " is for ", table[each.dimension],
                     of_heads ? " heads" : " batches", ", but the weights ", weights, " have ",
                     present);
  }
}

kernels::TileProgram TracedFunction::program(DType dtype) const {
  kernels::TileProgram made{nodes, {}, results};
  for (const Tensor& table : tables) {
    made.tables.push_back(is_floating(table.dtype()) ? table.array().to(dtype) : table.array());
  }
  return made;
}

Trace::Trace() noexcept
    : number_(last_number.fetch_add(1, std::memory_order_relaxed) + 1), before_(current_trace) {
  current_trace = this;
}

Trace::Trace(const TracedFunction& begin) : Trace() {
  is_limited_ = false;
  for (const Tensor& table : begin.tables) add_table(table);
  for (const TileNode& node : begin.nodes) add(node);
}

Trace::~Trace() {
  current_trace = before_;
}

Trace& Trace::current() {
  if (!current_trace)
    fail(kExpression, "values exist only while a score or mask function is called");
  return *current_trace;
}

int Trace::node_of(const Expr& value) const {
  if (value.trace_ != number_)
    fail(kExpression, "the value belongs to another function, or to an earlier call");
  return value.node_;
}

Expr Trace::add(TileNode node) {
  const Key key(node.op, node.type, node.inputs, std::bit_cast<std::uint64_t>(node.number),
                node.table);
  const auto found = known_.find(key);
  if (found != known_.end()) return value(found->second);
  if (is_limited_ && function_.nodes.size() == kMostNodes) {
    fail(kExpression, "a function may have at most ", kMostNodes, " operations");
  }
  const int number = static_cast<int>(function_.nodes.size());
  function_.nodes.push_back(std::move(node));
  known_.emplace(key, number);
  return value(number);
}

Expr Trace::add(TileOp op, TileType type, std::initializer_list<Expr> inputs) {
  TileNode node{op, type};
  for (const Expr& input : inputs) node.inputs.push_back(node_of(input));
  return add(std::move(node));
}

Expr Trace::constant(TileType type, double number) {
  TileNode node{TileOp::constant, type};
  node.number = number;
  return add(std::move(node));
}

int Trace::add_table(const Tensor& table) {
  for (std::size_t i = 0; i < function_.tables.size(); ++i) {
    if (function_.tables[i].impl() == table.impl()) return static_cast<int>(i);
  }
  check_table(table);
  function_.tables.push_back(table);
  return static_cast<int>(function_.tables.size()) - 1;
}

Expr Trace::look_up(const Tensor& table, std::vector<int> indices) {
  if (std::ssize(indices) != table.dim()) {
    fail<ShapeError>(kExpression, "a look-up has ", indices.size(),
                     indices.size() == 1 ? " index" : " indices", " for a table of shape ",
                     table.shape());
  }
  for (const int index : indices) {
    if (node(index).type != TileType::index) {
      fail<DTypeError>(kExpression, "a look-up needs integers as indices, for a table of shape ",
                       table.shape());
    }
  }
  TileNode node{TileOp::lookup, type_of_elements(table), std::move(indices)};
  node.table = add_table(table);
  return add(std::move(node));
}

Expr Trace::to_real(const Expr& number) {
  if (type_of(number) == TileType::real) return number;
  return add(TileOp::to_real, TileType::real, {number});
}

TracedFunction Trace::finish(const std::vector<Expr>& results) {
  for (const Expr& result : results) function_.results.push_back(node_of(result));
  return std::move(function_);
}

TracedFunction Trace::finish_pruned(const std::vector<Expr>& results) {
  const TracedFunction whole = finish(results);
  const std::vector<bool> needed = kernels::needed_nodes(whole.nodes, whole.results);
  TracedFunction pruned{{}, whole.tables, {}, whole.sizes};
  std::vector<int> numbers(needed.size(), -1);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    numbers[i] = static_cast<int>(pruned.nodes.size());
    TileNode& own = pruned.nodes.emplace_back(whole.nodes[i]);
    for (int& input : own.inputs) input = numbers[static_cast<std::size_t>(input)];
  }
  for (const int result : whole.results) {
    pruned.results.push_back(numbers[static_cast<std::size_t>(result)]);
  }
  return pruned;
}

Expr Trace::call(const TracedFunction& function, const Expr* score, const Position& at) {
  for (const SizeNeeded& each : function.sizes) {
    const Expr& place = each.place == TileOp::head ? at.head : at.batch;
    if (node(node_of(place)).op == each.place) need(each);
  }
  std::vector<Expr> values;
  const auto of = [&values](int node) { return values[static_cast<std::size_t>(node)]; };
  for (const TileNode& node : function.nodes) {
    switch (node.op) {
      case TileOp::batch: values.push_back(at.batch); break;
      case TileOp::head: values.push_back(at.head); break;
      case TileOp::query: values.push_back(at.query); break;
      case TileOp::key: values.push_back(at.key); break;
      case TileOp::score: values.push_back(*score); break;
      default: {
        TileNode own = node;
        for (int& input : own.inputs) input = node_of(of(input));
        if (own.op == TileOp::lookup) {
          own.table = add_table(function.tables[static_cast<std::size_t>(node.table)]);
        }
        values.push_back(add(std::move(own)));
      }
    }
  }
  return of(function.results[0]);
}

Position traced_position(Trace& trace) {
  return {trace.add(TileOp::batch, TileType::index), trace.add(TileOp::head, TileType::index),
          trace.add(TileOp::query, TileType::index), trace.add(TileOp::key, TileType::index)};
}

}  // namespace tend::attention
