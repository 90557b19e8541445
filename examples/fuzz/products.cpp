// Steps that multiply matrices.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// A partner for products: `x` transposed where it is a matrix, else a new leaf of that shape.
Value other_side(Program& p, const Value& x, const Shape& shape) {
  return p.leaf(shape, x.tensor.dtype(), -1, 1);
}

bool add_matmul(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t inner = x.tensor.size(-1), columns = p.dice.between(1, 3);
  const std::vector<Shape> shapes{{inner}, {inner, columns}, {2, inner, columns}};
  const Value y = other_side(p, x, p.dice.of(shapes));
  const bool fits = x.tensor.dim() < 4 && (y.tensor.dim() < 3 || x.tensor.dim() < 3);
  if (!fits) return false;
  p.step(as_text("torch.matmul(", x.name, ", ", y.name, ")"), matmul(x.tensor, y.tensor));
  return true;
}

bool add_gram(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() < 2) return false;
  p.step(as_text("torch.matmul(", x.name, ", ", x.name, ".transpose(-1, -2))"),
         matmul(x.tensor, x.tensor.transpose(-1, -2)));
  return true;
}

bool add_linear(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const Value w = other_side(p, x, {2, x.tensor.size(-1)}), b = other_side(p, x, {2});
  p.step(as_text("F.linear(", x.name, ", ", w.name, ", ", b.name, ")"),
         linear(x.tensor, w.tensor, b.tensor));
  return true;
}

bool add_addmm(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() != 2) return false;
  const Value w = other_side(p, x, {x.tensor.size(1), 2}), b = other_side(p, x, {2});
  p.step(as_text("torch.addmm(", b.name, ", ", x.name, ", ", w.name, ", beta=0.5, alpha=-2)"),
         addmm(b.tensor, x.tensor, w.tensor, 0.5, -2));
  return true;
}

bool add_bmm(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() != 3) return false;
  const Value y = other_side(p, x, {x.tensor.size(0), x.tensor.size(2), 2});
  p.step(as_text("torch.bmm(", x.name, ", ", y.name, ")"), bmm(x.tensor, y.tensor));
  return true;
}

bool add_einsum(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() < 2) return false;
  const std::vector<std::string> equations{"...ij,...kj->...ik", "...ij,...ij->...j",
                                           "...ij,...ij->i...", "...ij,...ij"};
  const std::string& equation = p.dice.of(equations);
  p.step(as_text("torch.einsum('", equation, "', ", x.name, ", ", x.name, ")"),
         einsum(equation, {x.tensor, x.tensor}));
  return true;
}

bool add_outer(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() != 1) return false;
  p.step(as_text("torch.outer(", x.name, ", ", x.name, ")"), outer(x.tensor, x.tensor));
  return true;
}

bool add_kron(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0 || x.tensor.numel() > 8) return false;
  p.step(as_text("torch.kron(", x.name, ", ", x.name, ")"), kron(x.tensor, x.tensor));
  return true;
}

bool add_tensordot(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() < 2) return false;
  p.step(as_text("torch.tensordot(", x.name, ", ", x.name, ", dims=([0], [0]))"),
         tensordot(x.tensor, x.tensor, {0}, {0}));
  return true;
}

bool add_trace(Program& p) {
  const Value x = p.real();
  // Of a tall matrix PyTorch 2.6 gives a wrong gradient: it runs on below the diagonal.
  if (x.tensor.dim() != 2 || x.tensor.size(0) > x.tensor.size(1)) return false;
  p.step(as_text("torch.trace(", x.name, ")"), trace(x.tensor));
  return true;
}

}  // namespace

std::vector<Entry> product_entries() {
  return {{"matmul", add_matmul}, {"product with itself", add_gram},
          {"linear", add_linear}, {"addmm", add_addmm},
          {"bmm", add_bmm},       {"einsum", add_einsum},
          {"outer", add_outer},   {"kron", add_kron},
          {"trace", add_trace},   {"tensordot", add_tensordot}};
}

}  // namespace fuzz
