// Statements that write elements, often through views and under a mode.
#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// What to write to, and the modes to do it under: mostly such that a leaf may be written.
struct Target {
  Named named;
  Modes modes;
};

Target target(LeafProgram& p) {
  Target t{p.dice.chance(0.6) ? p.leaf() : p.real(), {}};
  const bool needs_guard = t.named.tensor.requires_grad() && t.named.tensor.is_leaf();
  if (needs_guard && p.dice.chance(0.85)) {
    t.modes = p.dice.chance(0.8) ? Modes{Mode::no_grad} : Modes{Mode::inference};
    if (p.dice.chance(0.1)) t.modes.insert(t.modes.begin(), Mode::enable_grad);
  } else {
    t.modes = p.some_modes(0.15);
  }
  return t;
}

bool add_scale(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  p.act(
      x.name + ".mul_(0.5)", [&] { x.tensor.mul_(0.5); }, at.modes);
  return true;
}

bool add_add(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  const Named y = p.plain(x.tensor.shape(), x.tensor.dtype());
  p.act(
      as_text(x.name, ".add_(", y.name, ", alpha=0.5)"), [&] { x.tensor.add_(y.tensor, 0.5); },
      at.modes);
  return true;
}

bool add_write_copy(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  // The gradient of what was overwritten is zero in PyTorch, and here it does not arrive.
  if (x.tensor.requires_grad() && !x.tensor.is_leaf()) return false;
  const Named y = p.plain(x.tensor.shape(), p.dice.chance(0.8) ? x.tensor.dtype() : float32);
  p.act(
      as_text(x.name, ".copy_(", y.name, ")"), [&] { x.tensor.copy_(y.tensor); }, at.modes);
  return true;
}

bool add_row(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  if (x.tensor.dim() == 0 || x.tensor.size(0) == 0) return false;
  const std::int64_t row = p.dice.between(0, x.tensor.size(0) - 1);
  p.act(
      as_text(x.name, "[", row, "].mul_(-1.5)"), [&] { x.tensor[row].mul_(-1.5); }, at.modes);
  return true;
}

bool add_assignment(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  if (x.tensor.dim() == 0 || x.tensor.size(-1) == 0) return false;
  Shape shape = x.tensor.shape();
  shape.erase(shape.rank() - 1);
  const Named y = p.plain(shape, x.tensor.dtype());
  p.act(
      as_text(x.name, "[..., 0] = ", y.name),
      [&] {
        x.tensor[{ellipsis, std::int64_t{0}}] = y.tensor;
      },
      at.modes);
  return true;
}

bool add_diagonal(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  // PyTorch's fill_ writes elements that several indices share.
  if (x.tensor.dim() < 2 || x.tensor.array().may_self_overlap()) return false;
  p.act(
      x.name + ".diagonal(0, -2, -1).fill_(0.25)",
      [&] { x.tensor.diagonal(0, -2, -1).fill_(0.25); }, at.modes);
  return true;
}

bool add_slice(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  if (x.tensor.dim() == 0 || x.tensor.size(0) == 0) return false;
  if (x.tensor.array().may_self_overlap()) return false;
  p.act(
      x.name + ".narrow(0, 0, 1).zero_()", [&] { x.tensor.narrow(0, 0, 1).zero_(); }, at.modes);
  return true;
}

bool add_transposed(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  if (x.tensor.dim() < 2) return false;
  p.act(
      x.name + ".transpose(0, -1).tanh_()", [&] { x.tensor.transpose(0, -1).tanh_(); }, at.modes);
  return true;
}

// Elements that several indices share.
bool add_expanded(LeafProgram& p) {
  const Target at = target(p);
  const Named& x = at.named;
  if (x.tensor.dim() > 2 || x.tensor.numel() == 0) return false;
  Shape sizes{2};
  for (const std::int64_t size : x.tensor.shape()) sizes.push_back(size);
  p.act(
      as_text(x.name, ".expand(", tuple(sizes), ").mul_(2)"),
      [&] { x.tensor.expand(sizes).mul_(2); }, at.modes);
  return true;
}

// A tracked value into a row of another.
bool add_tracked_row(LeafProgram& p) {
  const std::optional<Named> v = p.tracked();
  if (!v || v->tensor.dim() == 0 || v->tensor.size(0) == 0) return false;
  const Named y = p.leaf();
  Shape shape = v->tensor.shape();
  shape.erase(0);
  if (y.tensor.shape() != shape || y.tensor.dtype() != v->tensor.dtype()) return false;
  p.act(as_text(v->name, "[0] = ", y.name), [&] { v->tensor[std::int64_t{0}] = y.tensor; });
  return true;
}

}  // namespace

std::vector<LeafEntry> write_entries() {
  return {{"mul_ of a leaf or value", add_scale, 2},
          {"add_ of a leaf or value", add_add, 2},
          {"copy_", add_write_copy, 2},
          {"write to a row", add_row, 2},
          {"assignment to a last column", add_assignment},
          {"write to a diagonal", add_diagonal},
          {"write to a slice", add_slice},
          {"write to a transposed view", add_transposed},
          {"write to an expanded view", add_expanded},
          {"assignment of a leaf", add_tracked_row}};
}

}  // namespace fuzz
