// Steps that write into tensors of the graph, often through views.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// A writable value, or nothing.
std::optional<Value> target(Program& p) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Value x = p.real();
    if (Program::writable(x)) return x;
  }
  return std::nullopt;
}

bool add_scale(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x) return false;
  x->tensor.mul_(0.5);
  p.statement(as_text(x->name, ".mul_(0.5)"));
  return true;
}

bool add_add(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x) return false;
  const Value y = p.partner(*x);
  if (!broadcasts_to(y.tensor.shape(), x->tensor.shape())) return false;
  x->tensor.add_(y.tensor, 0.5);
  p.statement(as_text(x->name, ".add_(", y.name, ", alpha=0.5)"));
  return true;
}

bool add_row(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x || x->tensor.dim() == 0 || x->tensor.size(0) == 0) return false;
  const std::int64_t row = p.dice.between(0, x->tensor.size(0) - 1);
  x->tensor[row].mul_(-1.5);
  p.statement(as_text(x->name, "[", row, "].mul_(-1.5)"));
  return true;
}

bool add_assignment(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x || x->tensor.dim() == 0 || x->tensor.size(-1) == 0) return false;
  const std::int64_t column = p.dice.between(0, x->tensor.size(-1) - 1);
  Shape shape = x->tensor.shape();
  shape.erase(shape.rank() - 1);
  const Value y = p.leaf(shape, x->tensor.dtype());
  x->tensor[{ellipsis, column}] = y.tensor;
  p.statement(as_text(x->name, "[..., ", column, "] = ", y.name));
  return true;
}

bool add_function(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x) return false;
  if (p.dice.chance(0.5)) {
    x->tensor.tanh_();
    p.statement(as_text(x->name, ".tanh_()"));
  } else {
    x->tensor.sigmoid_();
    p.statement(as_text(x->name, ".sigmoid_()"));
  }
  return true;
}

bool add_fill(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x || x->tensor.dim() < 2) return false;
  const Tensor diagonal = x->tensor.diagonal(0, -2, -1);
  diagonal.fill_(0.25);
  p.statement(as_text(x->name, ".diagonal(0, -2, -1).fill_(0.25)"));
  return true;
}

bool add_transposed(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x || x->tensor.dim() < 2) return false;
  const Tensor transposed = x->tensor.transpose(0, -1);
  const Value y = p.leaf(transposed.shape(), x->tensor.dtype());
  transposed.mul_(y.tensor);
  p.statement(as_text(x->name, ".transpose(0, -1).mul_(", y.name, ")"));
  return true;
}

bool add_masked(Program& p) {
  const std::optional<Value> x = target(p);
  if (!x) return false;
  const Value mask = p.leaf(x->tensor.shape(), int64, 0, 2);
  x->tensor.masked_fill_(mask.tensor == 1, 0.125);
  p.statement(as_text(x->name, ".masked_fill_(", mask.name, " == 1, 0.125)"));
  return true;
}

}  // namespace

std::vector<Entry> in_place_entries() {
  return {{"mul_", add_scale},
          {"add_", add_add},
          {"mul_ of a row", add_row},
          {"assignment to a column", add_assignment},
          {"tanh_ and sigmoid_", add_function},
          {"fill_ of a diagonal", add_fill},
          {"mul_ of a transposed view", add_transposed},
          {"masked_fill_", add_masked}};
}

}  // namespace fuzz
